# SPDX-License-Identifier: GPL-2.0-only
# In the guest, as the recorded command: run another one, and let the kernel print the ring buffer before
# the recorder gets to read it. The recorder is stopped meanwhile, so that its tape and the text are
# of the same records. What it had taken before that, the kernel counts as "read events".
# usage: guest-with-text.sh NAME COMMAND...     leaves NAME.txt, NAME.stats, NAME.own and,
# since 6.4, NAME.fields.txt
# shellcheck shell=dash
name=$1
shift
instance=/sys/kernel/tracing/instances/lrutape-$PPID

kill -STOP $PPID
# What these threads did for themselves the kernel prints and the tape leaves out.
ls "/proc/$PPID/task" >"$name.own"
"$@"
status=$?
echo 0 >"$instance/tracing_on"
# The text is not to be charged to the command's memory.
echo $$ >/sys/fs/cgroup/cgroup.procs
for cpu in "$instance"/per_cpu/cpu*; do
	sed "s/^/${cpu##*/cpu} /" "$cpu/stats"
done >"$name.stats"
cat "$instance/trace" >"$name.txt"
if [ -e "$instance/options/fields" ]; then
	echo 1 >"$instance/options/fields"
	cat "$instance/trace" >"$name.fields.txt"
fi
kill -CONT $PPID
exit $status
