/* SPDX-License-Identifier: MIT */
/* 13_search.c - a tree of irregular fan-out: searched until the first find, or to its end */
#include <rota/rota.h>
#include <stdatomic.h>
#include <stdio.h>

enum { FOLDERS = 200000, MOST_INSIDE = 7 };

/* The completer comes first. Nobody waits for a child: the last to complete tells the parent. */
typedef struct folder {
    rota_completer completer;
    int first, inside; /* its folders lie in a row */
} folder;

static folder folders[FOLDERS];
static const folder *wanted, *found;
static atomic_int visits;

static void visit(rota_completer *self)
{
    folder *here = (folder *)self;

    if (rota_fj_is_done(&rota_completer_root(self)->task))
        return; /* another has found it */
    atomic_fetch_add(&visits, 1);
    if (here == wanted) {
        found = here;
        rota_complete_root(self); /* whoever invoked the root goes on at once */
        return;
    }
    rota_set_pending(self, here->inside); /* before the first is forked */
    for (int i = 0; i < here->inside; i++)
        rota_fork(&folders[here->first + i].completer.task);
    rota_try_complete(self);
}

/* Most are empty, some are full: nobody knows before how large a part of the tree is. */
static void make_tree(void)
{
    int made = 1;

    folders[0] = (folder){ROTA_COMPLETER(visit, NULL), 0, 0};
    for (int i = 0; i < made; i++) {
        unsigned dice = (unsigned)i * 2654435761u >> 16;
        folders[i].first = made;
        folders[i].inside = i > 0 && dice % 3 != 0 ? 0 : 1 + (int)(dice % MOST_INSIDE);
        if (folders[i].inside == 0 && i + 1 == made)
            folders[i].inside = 1; /* it does not end here */
        if (folders[i].inside > FOLDERS - made)
            folders[i].inside = FOLDERS - made;
        for (int end = made + folders[i].inside; made < end; made++)
            folders[made] = (folder){ROTA_COMPLETER(visit, &folders[i].completer), 0, 0};
    }
}

static int search(const folder *what)
{
    rota_executor *pool = rota_common_pool();

    make_tree();
    wanted = what;
    found = NULL;
    atomic_store(&visits, 0);
    if (rota_invoke(pool, &folders[0].completer.task) != ROTA_OK)
        return 1;
    printf("  %s after %d of %d folders\n", found != NULL ? "found" : "not there",
           atomic_load(&visits), FOLDERS);
    /* Those that were forked are told to stop, but may still be looked at: the memory must stay. */
    return rota_await_quiescence(pool, ROTA_FOREVER) == ROTA_OK && found == what ? 0 : 1;
}

int main(void)
{
    if (search(&folders[FOLDERS / 3]) != 0 || search(NULL) != 0)
        return 1;
    return atomic_load(&visits) == FOLDERS ? 0 : 1;
}
