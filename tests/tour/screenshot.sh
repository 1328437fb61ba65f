#!/bin/sh
# SPDX-License-Identifier: MIT
# screenshot.sh [FOLDER] - pictures of FOLDER/tour.html (default: out), to be looked at: at a desk by day
# and by night, and on a phone. It needs Chromium, and installs it where it may.
set -eu
cd "$(dirname "$0")/../.."
out=$(cd "${1-out}" && pwd)
[ -e "$out/tour.html" ] || { echo "There is no $out/tour.html: ./run makes it." >&2; exit 1; }
if ! command -v chromium >/dev/null 2>&1; then
    apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core >&2 ||
        { echo "Please install Chromium." >&2; exit 1; }
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

chrome() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --allow-file-access-from-files --user-data-dir="$scratch" "$@" 2>"$scratch/log" ||
        { cat "$scratch/log" >&2; exit 1; }
}

# picture NAME WIDTH HEIGHT ADDRESS [OPTION...]
picture() {
    name=$1 size=$2,$3 address=$4
    shift 4
    chrome --window-size="$size" --screenshot="$out/$name.png" "$@" "$address"
    echo "$out/$name.png"
}

# Chromium has no window as narrow as a phone; a frame in a page is. Its title becomes the width that
# the report needs there.
phone=$scratch/phone.html
cat >"$phone" <<END
<body style="margin: 0"><iframe src="file://$out/tour.html" style="width: 390px; height: 7600px; border: 0"
onload="document.title = 'needs ' + this.contentDocument.documentElement.scrollWidth"></iframe></body>
END
picture light 1200 4600 "file://$out/tour.html"
picture dark 1200 4600 "file://$out/tour.html" --force-dark-mode
picture phone 500 7600 "file://$phone"
chrome --dump-dom "file://$phone" | grep -q '<title>needs 390</title>' ||
    { echo "The report is too wide for a phone." >&2; exit 1; }
