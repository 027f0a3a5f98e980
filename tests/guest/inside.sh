#!/usr/bin/env bash
# Runs in the virtual machine of .ci/guest, as root, once it has booted; the last line says how it went.
# Users: ada's systemd lingers, eve's does not, sue is never logged in.
set -uo pipefail
cd /opt/arena
export PYTHONPATH=/opt/python:/opt/arena PYTHONDONTWRITEBYTECODE=1 COLUMNS=100 ARENA_CGROUP=auto
pytest="python3 -m pytest -q -m guest -p no:cacheprovider --tb=short --color=no"
arena="python3 -c 'import sys; from arena.cli import main; sys.argv[0] = \"arena\"; main()'"
groups=tests/process/test_guest_groups.py
few='beside or shared or children'
failed=()

say() { echo "guest: $*"; }

# run TITLE COMMAND...: a command that has to succeed
run() {
    local title=$1 begun=$SECONDS
    shift
    say "$title"
    timeout -k 10 600 "$@" 2>&1 </dev/null
    local status=$?
    say "$title: exit code $status after $((SECONDS - begun)) s"
    ((status == 0)) || failed+=("$title")
}

# has TITLE WORDS COMMAND...: a command that has to say these words
has() {
    local title=$1 words=$2 said
    shift 2
    said=$(timeout -k 10 300 "$@" 2>&1 </dev/null)
    if [[ $said == *"$words"* ]]; then
        say "$title: ok"
    else
        say "$title: expected \"$words\", found:"
        echo "$said"
        failed+=("$title")
    fi
}

say "$(uname -r), $(systemctl --version | head -n 1), $(bwrap --version), $(python3 --version)"
with="export PYTHONPATH=$PYTHONPATH PYTHONDONTWRITEBYTECODE=1 COLUMNS=100 ARENA_CGROUP=auto; cd /opt/arena;"

ada='user@1000\.service/app\.slice/arena-[0-9]+-[0-9a-f]+\.scope'
run "commands of a user who has logged in" \
    runuser -l ada -c "$with export ARENA_GUEST_BASE='$ada'; $pytest tests/cli/test_guest.py"
run "groups of a user who has logged in" runuser -l ada -c "$with export ARENA_GUEST_BASE='$ada'; $pytest $groups"
run "a league of hostile bots" runuser -l ada -c "$with $pytest tests/hostile/test_hostile_guest.py"
run "groups of a service that delegates" \
    systemd-run --quiet --wait --pipe -p Delegate=yes -p User=ada --unit=delegating \
    bash -c "$with export ARENA_GUEST_BASE='system\.slice/delegating\.service$'; $pytest $groups -k '$few'"
run "groups of a scope made by hand" \
    runuser -l ada -c "$with export ARENA_GUEST_BASE='user@1000\.service/app\.slice/run-[^/]*\.scope$';
        systemd-run --user --quiet --scope -p Delegate=yes $pytest $groups -k '$few'"
root='system\.slice/arena-[0-9]+-[0-9a-f]+\.scope'
run "groups of root" runuser -l root -c "$with export ARENA_GUEST_BASE='$root'; $pytest $groups -k '$few or together or within or above'"
run "commands of root" \
    runuser -l root -c "$with export ARENA_GUEST_BASE='$root'; $pytest tests/cli/test_guest.py -k killed"

has "a command in the background of a user whose systemd ends at logout" "loginctl enable-linger eve" \
    runuser -l eve -c "$with $arena doctor"
has "the same in the foreground of a terminal" "each bot has a control group" \
    runuser --pty -l eve -c "$with $arena doctor"
has "the same under nohup" "loginctl enable-linger eve" \
    runuser --pty -l eve -c "$with trap '' HUP; $arena doctor"
has "a service that does not delegate" "arena runs as part of arena-guest.service" bash -c "$with $arena doctor"
has "a user without a systemd of their own" "no systemd of your own runs; log in as sue" \
    setpriv --reuid sue --regid sue --clear-groups env -u XDG_RUNTIME_DIR HOME=/ \
    bash -c "$with export ARENA_CGROUP=required; $arena match random random --game nim"

((${#failed[@]} == 0)) || say "failed: $(printf '%s; ' "${failed[@]}")"
say "exit code $((${#failed[@]} > 0))"
