#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Run a script (busybox sh) under another kernel, in a virtual machine that holds nothing else.
# usage: tests/vm/run.sh KERNEL_DIRECTORY OUT_DIRECTORY "SCRIPT [ARGUMENT...]" FILE...
#   KERNEL_DIRECTORY   what get-kernel.sh printed
#   OUT_DIRECTORY      where the guest's $OUT lands, with said, status, dmesg and console.log
#   FILE...            go to the guest's working directory, SCRIPT among them; it is in the PATH there
#   LRUTAPE_VM_ACCEL=kvm   default tcg: slower, the same everywhere
#   LRUTAPE_VM_TIMEOUT=N   seconds, default 300
#   LRUTAPE_VM_MEMORY=MIB  the guest's memory, default 1024
#   LRUTAPE_VM_DATA=SIZE   of its file system $DATA, default 256M
# Exit status: the script's; 124 out of time; 125 the guest left no result.
set -euo pipefail

(($# >= 4)) || { sed -n 's/^# usage: /usage: /p' "$0" >&2; exit 2; }
kernel=$(realpath "$1") out=$2 script=$3
shift 3
here=$(dirname "$(realpath "$0")")
version=${kernel##*/}
accel=${LRUTAPE_VM_ACCEL:-tcg}

mkdir -p "$out"
out=$(realpath "$out")
rm -f "$out/status" "$out/console.log"
work=$(mktemp -d "${TMPDIR:-/tmp}/lrutape-vm.XXXXXX")
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/payload" "$root/modules" "$root/dev"
ln -s bin "$root/sbin"
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$here/init" "$root/init"
chmod 755 "$root/init"
cp -L "$@" "$root/payload/"
echo "$script" >"$root/payload/script"

# What is built in lists as "builtin"; what a kernel does not have it does without.
: >"$root/modules.list"
for module in virtio_pci virtio_blk ext4 crc32c_generic; do
	modprobe -S "$version" -d "$kernel" --show-depends "$module" 2>/dev/null || :
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' | while read -r file; do
	name=${file##*/}
	name=${name%.xz}
	case $file in
	*.xz) xz -dc "$file" >"$root/modules/$name" ;;
	*) cp "$file" "$root/modules/$name" ;;
	esac
	echo "/modules/$name" >>"$root/modules.list"
done
(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >"$work/initrd"

truncate -s 2G "$work/out.img"
truncate -s "${LRUTAPE_VM_DATA:-256M}" "$work/data.img"
mkfs.ext4 -q -F -b 4096 -O ^has_journal -E lazy_itable_init=0,nodiscard "$work/data.img"

# erms and fsrm: qemu's byte-wise string operations are several times slower than loops.
case $accel in
tcg) cpu=(-accel "tcg,thread=multi,tb-size=256" -cpu "max,la57=off,erms=off,fsrm=off") ;;
*) cpu=(-accel "$accel" -cpu host) ;;
esac
append="console=ttyS0 quiet panic=-1 mitigations=off nokaslr no5lvl cgroup_no_v1=all tsc=reliable"
status=0
timeout --foreground "${LRUTAPE_VM_TIMEOUT:-300}" qemu-system-x86_64 -M q35 "${cpu[@]}" -m "${LRUTAPE_VM_MEMORY:-1024}" -smp 2 \
	-no-user-config -nodefaults -no-reboot -display none -serial file:"$out/console.log" \
	-kernel "$kernel/vmlinuz" -initrd "$work/initrd" -append "$append" \
	-drive file="$work/out.img",format=raw,if=none,id=out,cache=unsafe,discard=unmap \
	-device virtio-blk-pci,drive=out,serial=out \
	-drive file="$work/data.img",format=raw,if=none,id=data,cache=unsafe \
	-device virtio-blk-pci,drive=data,serial=data >"$out/qemu.log" 2>&1 </dev/null || status=$?
if ((status == 124)); then
	tail -n 5 "$out/console.log" >&2
	exit 124
fi
if ! tar -xf "$work/out.img" -C "$out" --warning=no-alone-zero-block 2>/dev/null || [[ ! -e $out/status ]]; then
	tail -qn 5 "$out/qemu.log" "$out/console.log" >&2
	exit 125
fi
exit "$(cat "$out/status")"
