/* Whether text has the form that its format says: read by parsers as simple as can be. */
#include "buffers.h"

/* A JSON value from here on; where it ends, or NULL. */
static const char *value_end(const char *at, int depth);

static const char *string_end(const char *at)
{
    if (*at++ != '"') return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20) return NULL;
        if (*at != '\\') continue;
        at++;
        if (strchr("\"\\/bfnrt", *at) != NULL && *at != 0) continue;
        if (*at != 'u' || strspn(at + 1, "0123456789abcdefABCDEF") < 4) return NULL;
        at += 4;
    }
    return at + 1;
}

static const char *members_end(const char *at, int depth, char close)
{
    at++;
    if (*at == close) return at + 1;
    for (;; at++) {
        if (close == '}') {
            at = string_end(at);
            if (at == NULL || *at++ != ':') return NULL;
        }
        at = value_end(at, depth + 1);
        if (at == NULL) return NULL;
        if (*at == close) return at + 1;
        if (*at != ',') return NULL;
    }
}

static const char *number_end(const char *at)
{
    const char *const first = at + (*at == '-');
    at = first + strspn(first, "0123456789");
    if (at == first || (*first == '0' && at > first + 1)) return NULL;
    if (*at == '.') {
        const size_t digits = strspn(at + 1, "0123456789");
        if (digits == 0) return NULL;
        at += 1 + digits;
    }
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        if (strspn(at, "0123456789") == 0) return NULL;
        at += strspn(at, "0123456789");
    }
    return at;
}

static const char *value_end(const char *at, int depth)
{
    static const char *const words[] = {"null", "true", "false"};
    if (depth > 16) return NULL;
    for (size_t i = 0; i < 3; i++) {
        if (strncmp(at, words[i], strlen(words[i])) == 0) return at + strlen(words[i]);
    }
    switch (*at) {
    case '{': return members_end(at, depth, '}');
    case '[': return members_end(at, depth, ']');
    case '"': return string_end(at);
    default: return number_end(at);
    }
}

/* The number of fields of each row, which is the same for all; 0 if it is not. */
static size_t fields_of(const char *at)
{
    size_t expected = 0;
    while (*at != 0) {
        size_t fields = 1;
        for (; *at != '\n' && *at != 0; at++) {
            if (*at == ',') fields++;
            if (*at != '"') continue;
            for (at++; *at != '"' || at[1] == '"'; at++) {
                if (*at == 0) return 0;
                if (*at == '"') at++;
            }
        }
        if (*at == '\n') at++;
        if (expected != 0 && fields != expected) return 0;
        expected = fields;
    }
    return expected;
}

void check_form(struct world *world, uint32_t format, const char *text)
{
    const char *end;
    REQUIRE(text[0] != 0);
    switch (format) {
    case PICOLLO_TEXT_LINE:
        REQUIRE(strchr(text, '\n') == NULL && strchr(text, '\r') == NULL);
        break;
    case PICOLLO_TEXT_JSON:
        end = value_end(text, 0);
        REQUIRE(text[0] == '{' && end != NULL && end[strspn(end, "\n")] == 0);
        break;
    case PICOLLO_TEXT_HUMAN:
    case PICOLLO_TEXT_FULL:
        REQUIRE(text[strlen(text) - 1] != '\n' && strstr(text, "P999") == NULL && strstr(text, " \n") == NULL);
        break;
    case PICOLLO_TEXT_CSV:
        REQUIRE(fields_of(text) > 1);
        break;
    default:
        REQUIRE(text[strlen(text) - 1] == '\n');
        break;
    }
}
