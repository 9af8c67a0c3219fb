/*
 * One page of a listing as the services write it: XML of the Blob service, JSON of the Data Lake service. Pure; what a server sent may be anything.
 */
#ifndef SL_REMOTE_AZURE_PAGE_H
#define SL_REMOTE_AZURE_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"
#include "silt/status.h"

struct sl_azure_entry {
    struct sl_str name; /* in the container; of the page's arena */
    int64_t size_bytes;
    int64_t modified_ms;
    bool is_folder; /* a folder of a hierarchical account, or what stands for one in a flat one */
};

struct sl_azure_page {
    struct sl_arena arena;
    struct sl_vec entries; /* of struct sl_azure_entry, in the server's order */
    size_t limit;          /* of entries, for the text being read */
    size_t n_prefixes;     /* folders of a listing with a delimiter */
    struct sl_str
        next; /* marker of the next page; empty: there is none. Not of a page in JSON, where a header has it */
};

void sl_azure_page_init(struct sl_azure_page *page, const silt_env *env);
void sl_azure_page_release(struct sl_azure_page *page);
/* Adds what the text has. SILT_EIO for text that is no such page. */
silt_status sl_azure_page_read_xml(struct sl_azure_page *page, struct sl_str text, silt_error *err);
silt_status sl_azure_page_read_json(struct sl_azure_page *page, struct sl_str text, silt_error *err);

#endif
