/* Takes 32 bytes of the C library's reserve for the initial-exec thread-local storage of libraries loaded late. */
static __thread volatile char taken[32] __attribute__((tls_model("initial-exec"), aligned(32)));

char *reserve_taker_place(void)
{
    return (char *)taken;
}
