#!/usr/bin/env bash
# The mini engine compiles with nothing of silt but its public headers, as a stranger's would.
set -euo pipefail
source_dir=${SILT_SOURCE_DIR:-$(cd "$(dirname "$0")/../../.." && pwd)}
for file in "$source_dir"/tests/support/mini_*.c; do
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -fsyntax-only -I"$source_dir/include" -I"$source_dir/tests/support" "$file"
done
for name in "$source_dir"/tests/support/mini_*.[ch]; do
    if grep -nE '^#include "(base|json|schema|expr|kernel|storage|engine)/' "$name"; then
        echo "$name includes a header that is not public" >&2
        exit 1
    fi
done
