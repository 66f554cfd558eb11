/* Requests whose cause of being slow is known, because it was planted. */
#ifndef PLANTS_H
#define PLANTS_H
#include "oracle.h"

/* What is usual for a request: the label that the collector is given. Mixed: either of the others, and nobody says which. */
enum kind { KIND_WORK = 1, KIND_DATABASE = 2, KIND_MIXED = 3 };

struct plant {
    const char *name;
    enum kind kind;
    /* What is set up before the request and taken down after it, and the request itself. A dud does the same without the cause. */
    void (*before)(int dud);
    void (*request)(int dud);
    void (*after)(void);
    /* Of what the accounts tell of a request, that which was planted: nanoseconds. */
    uint64_t (*planted)(const struct accounts *);
    /* Needs a control group that may be written to. */
    int needs_group;
};

extern const struct plant plants[];
extern const unsigned plants_length;
/* What is ordinary for each kind: two, which may be the same. */
extern const struct plant *const ordinary[4][2];

/* How long an ordinary request of work is on the CPU, and one of the database off it; what each plant adds, at the least. */
#define USUAL_WORK 1500000u
#define USUAL_WAIT 10000000u
#define PLANTED 11000000u
/* What the plant adds to the ten milliseconds of a database. */
#define PLANTED_TO_DATABASE 2000000u

/* For the thread that calls: pins it, calibrates its work, starts its neighbours. `group`: a directory, or NULL. */
void plants_open(const char *group);
/* Ends the neighbours. */
void plants_close(void);

#endif
