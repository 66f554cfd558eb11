/* Statuses, failures, results and views: the basis of picollo.hpp. Include picollo.hpp. */
#ifndef PICOLLO_RESULT_HPP
#define PICOLLO_RESULT_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "picollo.h"

#if !defined(PICOLLO_NO_EXCEPTIONS) && !defined(__cpp_exceptions)
#define PICOLLO_NO_EXCEPTIONS 1
#endif

#ifndef PICOLLO_NO_EXCEPTIONS
#include <stdexcept>
#endif

/* Separate namespaces, so objects of both kinds can be linked together. */
#ifdef PICOLLO_NO_EXCEPTIONS
#define PICOLLO_NAMESPACE namespace picollo { inline namespace with_results
#else
#define PICOLLO_NAMESPACE namespace picollo { inline namespace with_exceptions
#endif

PICOLLO_NAMESPACE {

/** Why a call failed; the numbers of picollo.h. */
enum class status : std::int32_t {
    ok = PICOLLO_OK,
    end = PICOLLO_END,
    null_pointer = PICOLLO_ERR_NULL_POINTER,
    invalid_argument = PICOLLO_ERR_INVALID_ARGUMENT,
    out_of_memory = PICOLLO_ERR_OUT_OF_MEMORY,
    buffer_too_small = PICOLLO_ERR_BUFFER_TOO_SMALL,
    unsupported = PICOLLO_ERR_UNSUPPORTED,
    incompatible = PICOLLO_ERR_INCOMPATIBLE,
    corrupt = PICOLLO_ERR_CORRUPT,
    empty = PICOLLO_ERR_EMPTY,
    wrong_thread = PICOLLO_ERR_WRONG_THREAD,
    os = PICOLLO_ERR_OS,
    permission = PICOLLO_ERR_PERMISSION,
    no_such_event = PICOLLO_ERR_NO_SUCH_EVENT,
    not_counted = PICOLLO_ERR_NOT_COUNTED,
    busy = PICOLLO_ERR_BUSY,
    forked = PICOLLO_ERR_FORKED,
    panic = PICOLLO_ERR_PANIC
};

/** The library's sentence for a status. */
inline const char *to_string(status code) noexcept
{
    return picollo_status_str(static_cast<picollo_status>(code));
}

/** A status with an explanation: what failed, why, and what to do about it. */
class failure {
public:
    explicit failure(picollo_status code) noexcept : failure(code, nullptr) {}

    /** With the details from calls that reach the kernel. */
    failure(picollo_status code, const picollo_error *detail) noexcept : code_(static_cast<picollo::status>(code))
    {
        /* The library wrote it, unless the call was refused before. */
        if (detail != nullptr && detail->status == code) {
            os_errno_ = detail->os_errno;
            event_index_ = detail->event_index;
            for (std::size_t i = 0; i + 1 < sizeof detail_ && detail->message[i] != 0; i++) detail_[i] = detail->message[i];
        }
    }

    status code() const noexcept { return code_; }
    /** 0 if no system call failed. */
    int os_errno() const noexcept { return os_errno_; }
    /** Index of the event at fault, or -1. */
    int event_index() const noexcept { return event_index_; }
    const char *message() const noexcept { return detail_[0] != 0 ? detail_ : to_string(code_); }

private:
    picollo::status code_;
    int os_errno_ = 0;
    int event_index_ = -1;
    char detail_[sizeof(picollo_error::message)] = {};
};

#ifdef PICOLLO_NO_EXCEPTIONS

/** A value or a failure. Access to the one that is missing ends the program. */
template <class T>
class [[nodiscard]] result {
public:
    result(T value) noexcept : holds_(true) { new (&value_) T(std::move(value)); }
    result(const picollo::failure &why) noexcept : holds_(false) { new (&failure_) picollo::failure(why); }
    result(result &&other) noexcept : holds_(other.holds_)
    {
        if (holds_) new (&value_) T(std::move(other.value_));
        else new (&failure_) picollo::failure(other.failure_);
    }
    /** Destroys the previous content; self-assignment changes nothing. Moving a T must not throw. */
    result &operator=(result &&other) noexcept
    {
        if (this == &other) return *this;
        if (holds_) value_.~T();
        holds_ = other.holds_;
        if (holds_) new (&value_) T(std::move(other.value_));
        else new (&failure_) picollo::failure(other.failure_);
        return *this;
    }
    ~result()
    {
        if (holds_) value_.~T();
    }

    bool has_value() const noexcept { return holds_; }
    explicit operator bool() const noexcept { return holds_; }
    T &value() & { return demand(), value_; }
    const T &value() const & { return demand(), value_; }
    T &&value() && { return demand(), std::move(value_); }
    T &operator*() & { return value(); }
    const T &operator*() const & { return value(); }
    T &&operator*() && { return std::move(*this).value(); }
    T *operator->() { return &value(); }
    const T *operator->() const { return &value(); }
    T value_or(T other) && { return holds_ ? std::move(value_) : std::move(other); }
    const picollo::failure &error() const
    {
        if (holds_) std::abort();
        return failure_;
    }

private:
    void demand() const
    {
        if (!holds_) std::abort();
    }

    bool holds_;
    union {
        T value_;
        picollo::failure failure_;
    };
};

/** Success or a failure. */
template <>
class [[nodiscard]] result<void> {
public:
    result() noexcept : failure_(PICOLLO_OK) {}
    result(const picollo::failure &why) noexcept : failure_(why) {}

    bool has_value() const noexcept { return failure_.code() == status::ok; }
    explicit operator bool() const noexcept { return has_value(); }
    void value() const
    {
        if (!has_value()) std::abort();
    }
    const picollo::failure &error() const
    {
        if (has_value()) std::abort();
        return failure_;
    }

private:
    picollo::failure failure_;
};

/** The return type of a function that can fail. */
template <class T>
using outcome = result<T>;

#else

/** A call that failed. */
class error : public std::runtime_error {
public:
    explicit error(const failure &why) : std::runtime_error(why.message()), failure_(why) {}

    status code() const noexcept { return failure_.code(); }
    int os_errno() const noexcept { return failure_.os_errno(); }
    int event_index() const noexcept { return failure_.event_index(); }

private:
    failure failure_;
};

/** The return type of a function that can fail: here its plain result. */
template <class T>
using outcome = T;

#endif

/** A view of contiguous values: an array, a std::vector, a std::array, a std::span, or pointer and length. */
template <class T>
class span {
    template <class C>
    using data_of = decltype(std::declval<C &>().data());

public:
    constexpr span() noexcept = default;
    constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}

    template <std::size_t N>
    constexpr span(T (&array)[N]) noexcept : data_(array), size_(N)
    {
    }

    template <class C, class = std::enable_if_t<std::is_convertible_v<std::remove_pointer_t<data_of<C>> (*)[], T (*)[]>>>
    constexpr span(C &&container) noexcept : data_(container.data()), size_(container.size())
    {
    }

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr bool empty() const noexcept { return size_ == 0; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

namespace detail {

/** Ends a function that returns an outcome<T>, by an exception or by a result. */
template <class T>
[[nodiscard]] inline outcome<T> fail(picollo_status code, const picollo_error *detail = nullptr)
{
#ifdef PICOLLO_NO_EXCEPTIONS
    return result<T>(failure(code, detail));
#else
    throw error(failure(code, detail));
#endif
}

/** Returns from a function without a value. */
inline outcome<void> done(picollo_status code, const picollo_error *detail = nullptr)
{
    if (code != PICOLLO_OK) return fail<void>(code, detail);
    return outcome<void>();
}

/** Returns a value, or the failure of the call that should have filled it in. */
template <class T>
inline outcome<T> filled(picollo_status code, T value, const picollo_error *detail = nullptr)
{
    if (code != PICOLLO_OK) return fail<T>(code, detail);
    return value;
}

/** Returns what a call writes through its last argument, as a T. */
template <class T, class Native = T, class... Parameters, class... Arguments>
inline outcome<T> answer(picollo_status (*call)(Parameters...), Arguments... arguments)
{
    Native found = {};
    const picollo_status code = call(arguments..., &found);
    return filled(code, T(std::move(found)));
}

/** The owner of the object that a call makes, or shares, through its last argument. */
template <class T, class... Parameters, class... Arguments>
inline outcome<T> made(picollo_status (*call)(Parameters...), Arguments... arguments)
{
    decltype(std::declval<const T &>().native()) owned = nullptr;
    const picollo_status code = call(arguments..., &owned);
    if (code != PICOLLO_OK) return fail<T>(code);
    return T(owned);
}

/** The same for a call that explains a failure in a further argument. */
template <class T, class Call, class... Arguments>
inline outcome<T> made_or_explained(Call &&call, Arguments... arguments)
{
    decltype(std::declval<const T &>().native()) owned = nullptr;
    picollo_error why = {};
    const picollo_status code = call(arguments..., &owned, &why);
    if (code != PICOLLO_OK) return fail<T>(code, &why);
    return T(owned);
}

/** The same for a call that makes nothing. */
template <class Call, class... Arguments>
inline outcome<void> done_or_explained(Call &&call, Arguments... arguments)
{
    picollo_error why = {};
    const picollo_status code = call(arguments..., &why);
    return done(code, &why);
}

/** Collects text from a call that fills a buffer; allocates. */
template <class Write>
inline outcome<std::string> text(Write &&write)
{
    std::string buffer(2048, '\0');
    for (;;) {
        std::size_t length = 0;
        const picollo_status code = write(&buffer[0], buffer.size(), &length);
        if (code == PICOLLO_OK) {
            buffer.resize(length);
            return buffer;
        }
        if (code != PICOLLO_ERR_BUFFER_TOO_SMALL) return fail<std::string>(code);
        buffer.assign(length + 1, '\0');
    }
}

/** Returns the text that a call writes into a buffer, which its last arguments describe. */
template <class... Parameters, class... Arguments>
inline outcome<std::string> written(picollo_status (*call)(Parameters...), Arguments... arguments)
{
    return text([&](char *buffer, std::size_t capacity, std::size_t *length) { return call(arguments..., buffer, capacity, length); });
}

/** Returns the list that a call fills in; T is the type of its elements. Allocates. */
template <class T, class... Parameters, class... Arguments>
inline outcome<std::vector<T>> listed(picollo_status (*call)(Parameters...), Arguments... arguments)
{
    std::vector<T> found;
    std::size_t length = 0;
    picollo_status code;
    /* Repeat if another thread has added elements. */
    do {
        found.resize(length);
        code = call(arguments..., found.data(), found.size(), &length);
    } while (code == PICOLLO_ERR_BUFFER_TOO_SMALL);
    found.resize(code == PICOLLO_OK ? length : 0);
    return filled(code, std::move(found));
}

/** Options, all defaults so far. */
template <class T>
class options_of {
public:
    const T &native() const noexcept { return native_; }

protected:
    options_of() noexcept : native_() { native_.struct_size = sizeof native_; }

    T native_;
};

/** Owns one native object: the base of classes that stand for it. */
template <class T, void (*Free)(T *)>
class handle {
public:
    /** Takes over a reference. */
    explicit handle(T *pointer) noexcept : pointer_(pointer) {}
    handle(handle &&other) noexcept : pointer_(std::exchange(other.pointer_, nullptr)) {}
    handle &operator=(handle &&other) noexcept
    {
        if (this != &other) {
            Free(pointer_);
            pointer_ = std::exchange(other.pointer_, nullptr);
        }
        return *this;
    }
    ~handle() { Free(pointer_); }

    T *native() const noexcept { return pointer_; }

private:
    T *pointer_;
};

} // namespace detail

} } // namespace picollo

#endif /* PICOLLO_RESULT_HPP */
