#!/bin/sh
# Can the models fail? (About ten minutes.) Each line below takes one thing away from a copy of the sources, and a model must notice.
set -eu
cd "$(dirname "$0")/.."
copy="$PWD/${CARGO_TARGET_DIR:-target}/loom_bugs"
export RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="$copy/target"
mkdir -p "$copy"
missed=0

# bug NAME MODEL FILE SED-EXPRESSION
bug() {
    rm -rf "$copy/core"
    cp -r core "$copy/"
    sed -i "$4" "$copy/core/src/$3"
    if cmp -s "core/src/$3" "$copy/core/src/$3"; then
        echo "OUTDATED  $1: the expression changes nothing in $3"
        missed=1
        return
    fi
    if ! (cd "$copy" && cargo test --quiet --package picollo-core --lib --no-run >"$copy/log" 2>&1); then
        echo "BROKEN    $1: does not compile"
        sed 's/^/    /' "$copy/log" | grep -A5 'error' | head -n 20
        missed=1
    elif (cd "$copy" && timeout 300 cargo test --quiet --package picollo-core --lib "models::$2" >"$copy/log" 2>&1); then
        echo "MISSED    $1: $2 passes"
        missed=1
    else
        echo "noticed   $1: $(grep -m 1 -A1 'panicked at' "$copy/log" | tail -n 1)"
    fi
}

# Only the core, in a workspace of its own.
sed -e 's/^members = .*/members = ["core"]/' -e '/^default-members/d' -e '/^# The benchmarks bring/d' Cargo.toml >"$copy/Cargo.toml"
cp Cargo.lock "$copy/"

bug "a change that does not announce itself" version version.rs 's/^ *fence(Release);//'
bug "a change that ends too early" version version.rs 's/wrapping_add(2), Release/wrapping_add(2), Relaxed/'
bug "a read that may see what came before the change" version version.rs 's/let version = self.0.load(Acquire)/let version = self.0.load(Relaxed)/'
bug "a read that looks again too early" version version.rs 's/^ *fence(Acquire);//'
bug "changes that do not wait for each other" version version.rs 's/version \& 1 == 0$/true/'
bug "a change that does not see the last one" version version.rs 's/Acquire, Relaxed).is_ok()/Relaxed, Relaxed).is_ok()/'
bug "a snapshot without the version" snapshot_against_reset version.rs 's/if self.0.load(Relaxed) == version {/if true {/'
bug "a reset that looks before its turn" two_resets histogram.rs 's/^        self.header.version.change(|| {/        let early: [u64; 2] = core::array::from_fn(|i| self.counters()[i].load()); let mut early = early.into_iter();\n&/; s/let count = counter.load();/let _ = counter; let count = early.next().unwrap();/'
bug "a bank read while it is filled anew" banks::snapshot banks.rs 's/if stands(word, self.0.load(Relaxed)) {/if true {/'
bug "a bank read before it is filled" banks::snapshot banks.rs 's/(self.mine, ended, Release, Relaxed)/(self.mine, ended, Relaxed, Relaxed)/'
bug "a bank filled by whoever has lost its turn" banks::overtaken histogram.rs 's/if !turn.stands() {/if false \&\& !turn.stands() {/'
bug "a bank filled without regard to what is in it" banks::overtaken histogram.rs 's/cell.replace(\*found, \*count)/{ let _ = found; cell.store(*count); true }/'
bug "a turn that reads what is older than the turn before did" banks::overtaken_beside banks.rs 's/^        fence(SeqCst);$/        fence(Release);/'
bug "interlocked recording that is not" snapshot_against_two interlocked.rs 's/cell.add_shared(count)/cell.add_alone(count)/'
bug "a reset that clears the cells" snapshot_against_one histogram.rs 's/^                base.store(count);/                counter.store(0);/'
bug "a wrap told of before it shows" wrap counter.rs 's/fetch_add(wraps, Release)/fetch_add(wraps, Relaxed)/'
bug "a wrap seen before its cell" wrap counter.rs 's/self.wraps.load(Acquire)/self.wraps.load(Relaxed)/'
bug "a reset that does not know of a wrap" wrap histogram.rs 's/tallies.know_wraps(wraps);//'
bug "a shard shown before it is made" lazily sharded.rs 's/shard.as_ptr(), Release, Relaxed/shard.as_ptr(), Relaxed, Relaxed/'
bug "a shard lost to another" lazily sharded.rs 's/Err(current) => newest = current/Err(_) => return/'
bug "shards that are never handed on" shard_handed registry.rs 's/unsafe { shards.as_ref().give_back(shard) };/let _ = (shards, shard);/'
bug "a shard with two owners" recorder_hands sharded.rs 's/\*free = unsafe { (\*shard.as_ptr()).next_free };//'
bug "an entry of a freed histogram taken for the next one's" histogram_freed registry.rs 's/&& \*epoch == entry.epoch/\&\& *epoch != 0/'
bug "drains that do not wait for each other" drains scalable.rs 's/self.drains.version.change(|| {/Ok::<(), Error>(()).map(|()| {/'
bug "a lock that does not hand over what it protects" lazily sync/lock.rs 's/store(0, Release)/store(0, Relaxed)/'
bug "a lock that two hold" lazily sync/lock.rs 's/^ *if holder != process {/if holder == process { break; } &/'
bug "a chunk that two writers make" sparse::two_writers first_touch.rs 's/Err(winner) => {/Err(winner) if false => {/; s/Ok(_) => Some(block),/_ => { self.0.store(block.as_ptr(), Release); Some(block) }/'
bug "a chunk shown before it is made" sparse::two_writers first_touch.rs 's/block.as_ptr(), Release, Acquire/block.as_ptr(), Relaxed, Relaxed/'
bug "a row that two writers make" doubles::two_writers first_touch.rs 's/Err(winner) => {/Err(winner) if false => {/; s/Ok(_) => Some(block),/_ => { self.0.store(block.as_ptr(), Release); Some(block) }/'
bug "a collection that forgets late writers" doubles::a_late_writer exponential.rs 's/^        self.read_interval(active.other(), reading, into);//'
bug "a cell drained in two steps" doubles::what_is_recorded exponential/rows.rs 's/Reading::Drain => cell.swap(0, Relaxed),/Reading::Drain => { let count = cell.load(Relaxed); cell.store(0, Relaxed); count }/'
bug "an exact record without a second look" doubles::exact exponential.rs 's/if self.active.load(SeqCst) == active || attempts == 0/if true || attempts == 0/'
bug "a stripe read under its writer" doubles::exact exponential/exact.rs 's/let alone = wait_until(|| stripe.take());/let alone = true;/'

exit $missed
