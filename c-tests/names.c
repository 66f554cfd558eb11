/* Events by their makers' names, through libpfm4, which is told to take this machine for another one before it is first needed. */
#include "session.h"

static void makers_names(void)
{
    const struct {
        const char *spec, *name;
        uint64_t config, config1;
        uint32_t modifiers;
    } expected[] = {
        {"MEM_LOAD_RETIRED.L1_MISS", "skx::MEM_LOAD_RETIRED.L1_MISS", 0x8d1, 0, 0},
        {"skx::MEM_LOAD_RETIRED.L1_MISS", "skx::MEM_LOAD_RETIRED.L1_MISS", 0x8d1, 0, 0},
        {"INST_RETIRED:ANY_P:c=2:u", "skx::INST_RETIRED:ANY_P:c=2:u", 0x20000c0, 0, PICOLLO_EVENT_USER},
        {"FRONTEND_RETIRED.DSB_MISS:k", "skx::FRONTEND_RETIRED.DSB_MISS:k", 0x1c6, 0x11, PICOLLO_EVENT_KERNEL},
    };
    picollo_event event;
    picollo_error error;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        memset(&event, 0xee, sizeof event);
        CHECK_OK(picollo_event_parse(expected[i].spec, &event, &error));
        CHECK_TEXT(expected[i].name, event.name);
        CHECK_U64(expected[i].config, event.config);
        CHECK_U64(expected[i].config1, event.config1);
        CHECK_U64(expected[i].modifiers, event.modifiers);
        CHECK(event.type == 4 && event.reserved == 0 && event.scale == 1.0 && event.unit[0] == 0);
    }
    CHECK_STATUS(PICOLLO_ERR_INVALID_ARGUMENT, picollo_event_parse("MEM_LOAD_RETIRED.L1_MIS", &event, &error));
    CHECK(strstr(error.message, "Did you mean MEM_LOAD_RETIRED.L1_MISS") != NULL);
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_event_parse("icx::INST_RETIRED.ANY_P", &event, &error));
}

static void others_names_are_as_ever(void)
{
    picollo_event event;
    picollo_error error;
    CHECK_OK(picollo_event_parse("cycles", &event, &error));
    CHECK_TEXT("Hardware:CpuCycles", event.name);
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_event_parse("cylces", &event, &error));
    CHECK(strstr(error.message, "Did you mean cycles?") != NULL);
}

int main(void)
{
    picollo_event event;
    picollo_error error;
    setenv("LIBPFM_FORCE_PMU", "skx", 1);
    CHECK_STATUS(PICOLLO_ERR_NO_SUCH_EVENT, picollo_event_parse("NO_SUCH_NAME", &event, &error));
    if (strstr(error.message, "is not installed here") == NULL) {
        RUN(makers_names);
    } else {
        SKIPPED("libpfm4 is not installed: ci/setup.sh tests installs it");
    }
    RUN(others_names_are_as_ever);
    return report();
}
