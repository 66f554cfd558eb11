#!/bin/sh
# Can the models fail? Each line below removes one thing from a copy of the sources, and a model must notice. Run by
# `ci/loom.sh bugs`, which sets the build flavor; the copy shares its dependencies. Ends with "N passed, N failed".
set -eu
cd "$(dirname "$0")/../.."
copy="$CARGO_TARGET_DIR/bugs"
mkdir -p "$copy"
noticed=0 missed=0

# plant FOLDER NAME TEST FILE SED-EXPRESSION
plant() {
    rm -rf "$copy/core" "$copy/native" "$copy/crates"
    # All crates, because those with models need others.
    cp -r core native crates "$copy/"
    sed -i "$5" "$copy/$1/src/$4"
    if cmp -s "$1/src/$4" "$copy/$1/src/$4"; then
        echo "OUTDATED  $2: the expression changes nothing in $4"
        missed=$((missed + 1))
        return
    fi
    if ! (cd "$copy" && cargo test --quiet --package "picollo-${1#crates/}" --lib --no-run >"$copy/log" 2>&1); then
        echo "BROKEN    $2: does not compile"
        sed 's/^/    /' "$copy/log" | grep -A5 'error' | head -n 20
        missed=$((missed + 1))
    elif (cd "$copy" && timeout "${LOOM_BUG_SECONDS:-600}" cargo test --quiet --package "picollo-${1#crates/}" --lib "$3" >"$copy/log" 2>&1); then
        echo "MISSED    $2: $3 passes"
        missed=$((missed + 1))
    elif ! grep -qE 'panicked at|signal: (6|7|11),' "$copy/log"; then
        # Probably out of time: nothing was noticed.
        echo "MISSED    $2: $3 ended without a finding: $(tail -n 1 "$copy/log")"
        missed=$((missed + 1))
    else
        echo "noticed   $2: $(grep -m 1 -A1 'panicked at' "$copy/log" | tail -n 1 | grep . || grep -m 1 -o 'signal: .*' "$copy/log")"
        noticed=$((noticed + 1))
    fi
}
# bug NAME MODEL FILE SED-EXPRESSION: in the core.
bug() { plant core "$1" "models::$2" "$3" "$4"; }
# page_bug NAME SED-EXPRESSION: in the reading of a counter's page.
page_bug() { plant crates/perf "$1" user_read::page::model user_read/page.rs "$2"; }
# waiting_bug NAME SED-EXPRESSION: in the code of exemplar collectors that does not wait.
waiting_bug() { plant crates/why "$1" waiting::model waiting.rs "$2"; }

# Only the crates with models, in a separate workspace.
sed -e 's|^members = .*|members = ["core", "crates/perf", "crates/why", "native"]|' -e '/^default-members/d' Cargo.toml >"$copy/Cargo.toml"
cp Cargo.lock "$copy/"

bug "a bank read while it is filled anew" banks::snapshot platform/banks.rs 's/if stands(word, self.0.load(Relaxed)) {/if true {/'
bug "a bank read before it is filled" banks::snapshot platform/banks.rs 's/(self.mine, ended, Release, Relaxed)/(self.mine, ended, Relaxed, Relaxed)/'
bug "a bank filled by whoever has lost its turn" banks::overtaken histograms/baseline.rs 's/if !turn.stands() {/if false \&\& !turn.stands() {/'
bug "a bank filled without regard to what is in it" banks::overtaken histograms/baseline.rs 's/cell.replace(\*found, \*count)/{ let _ = found; cell.store(*count); true }/'
bug "a turn that reads what is older than the turn before did" banks::overtaken_beside platform/banks.rs 's/^        fence(SeqCst);$/        fence(Release);/'
bug "interlocked recording that is not" snapshot_against_two cells/cell.rs 's/add_few_shared(1)/add_few_alone(1)/'
bug "a reset that clears the cells" snapshot_against_one histograms/dense/mod.rs 's/baseline::move_to_present(self, .*)$/{ let _ = banks; self.header.banks.change(|_| { self.counters().iter().for_each(|cell| cell.store(0)); true }) }/'
bug "a wrap told of before it shows" wrap cells/tallies.rs 's/fetch_add(wraps, Release)/fetch_add(wraps, Relaxed)/'
bug "a wrap seen before its cell" wrap cells/tallies.rs 's/self.wraps.load(Acquire)/self.wraps.load(Relaxed)/'
bug "a reset that does not know of a wrap" wrap histograms/baseline.rs 's/tallies.know_wraps(wraps);//'
bug "a shard shown before it is made" lazily threads/shards.rs 's/shard.as_ptr(), Release, Relaxed/shard.as_ptr(), Relaxed, Relaxed/'
bug "a shard lost to another" lazily threads/shards.rs 's/Err(current) => newest = current/Err(_) => return/'
bug "shards that are never handed on" shard_handed threads/thread_registry.rs 's/unsafe { shards.as_ref().give_back(shard) };/let _ = (shards, shard);/'
bug "a shard with two owners" recorder_hands threads/shards.rs 's/\*free = unsafe { (\*shard.as_ptr()).next_free };//'
bug "an entry of a freed histogram taken for the next one's" histogram_freed threads/thread_registry.rs 's/&& \*epoch == entry.epoch/\&\& *epoch != 0/'
bug "an entry that does not ask whose it is" entries::taken_again threads/entries.rs 's/then_some(number << INDEX_BITS)/then_some(1 << INDEX_BITS)/'
bug "an entry taken by an older histogram than the last" entries::taken_again threads/thread_registry.rs 's/let epoch = registry.newest;/let epoch = 1000 - registry.newest;/'
bug "an entry with two owners" entries::not_enough threads/entries.rs 's/self.0 |= 1 << free;//'
bug "an entry that outlives its thread" entries::a_record_after threads/tables.rs 's/^ *entries::empty();//'
bug "a lock that does not hand over what it protects" lazily platform/lock.rs 's/store(0, Release)/store(0, Relaxed)/'
bug "a lock that two hold" lazily platform/lock.rs 's/^ *if holder != process {/if holder == process { break; } &/'
bug "a lock taken over from the same process" exclusive platform/lock.rs 's/^ *if holder != process {/if true {/'
bug "a reader that does not see that its turn is over" banks::a_reader platform/banks.rs 's/if let Some(version) = turn.end(0) {/let version = turn.mine; let _ = turn.end(0); if true {/'
bug "a chunk that two writers make" sparse::two_writers cells/first_touch.rs 's/Err(winner) => {/Err(winner) if false => {/; s/Ok(_) => Some(block),/_ => { self.0.store(block.as_ptr(), Release); Some(block) }/'
bug "a chunk shown before it is made" sparse::two_writers cells/first_touch.rs 's/block.as_ptr(), Release, Acquire/block.as_ptr(), Relaxed, Relaxed/'
bug "a CPU's shard that two threads make" per_cpu histograms/per_cpu.rs 's/if entry.compare_exchange(.*{$/if entry.swap(shard.as_ptr(), Release) == shard.as_ptr() {/'
bug "a CPU's shard shown before it is made" per_cpu histograms/per_cpu.rs 's/shard.as_ptr(), Release, Relaxed/shard.as_ptr(), Relaxed, Relaxed/'
bug "a plain addition to what CPUs share" per_cpu histograms/per_cpu.rs 's/\[index as usize\].add_shared(count)/[index as usize].add_alone(count)/'
bug "a row that two writers make" doubles::two_writers cells/first_touch.rs 's/Err(winner) => {/Err(winner) if false => {/; s/Ok(_) => Some(block),/_ => { self.0.store(block.as_ptr(), Release); Some(block) }/'
bug "a collection that forgets late writers" doubles::a_late_writer doubles/mod.rs 's/^        self.read_interval(active.other(), reading, into);//'
bug "a cell drained in two steps" doubles::what_is_recorded doubles/rows.rs 's/Reading::Drain => cell.swap(0, Relaxed),/Reading::Drain => { let count = cell.load(Relaxed); cell.store(0, Relaxed); count }/'
bug "an exact record without a second look" doubles::exact doubles/mod.rs 's/if self.active.load(SeqCst) == active || attempts == 0/if true || attempts == 0/'
bug "a stripe read under its writer" doubles::exact doubles/exact.rs 's/let alone = wait_until(|| stripe.take());/let alone = true;/'

plant crates/why "a lock that does not publish what was done under it" waiting::model ../../../core/src/platform/lock.rs 's/self.0.store(0, Release)/self.0.store(0, Relaxed)/'
waiting_bug "a place that a smaller one takes" 's/if round > 0 \&\& smaller.exemplar.value < pending.exemplar.value =>/if round > 0 \&\& smaller.exemplar.value != pending.exemplar.value =>/'
waiting_bug "a full place that is not counted" 's/self.full.fetch_add(1, Ordering::Relaxed);//'
waiting_bug "a context that does not wait for who looks at its place" 's/let changed = place.with(|place|/let changed = place.try_with(|place|/; s/changed == Some(true)/changed == Ok(true)/'
page_bug "a page that is not looked at again" 's/if page.lock_relaxed() != lock {/if false {/'
page_bug "a page looked at again too early" 's/^ *page.fence();//'
page_bug "a page that is read while it changes" 's/if lock & 1 != 0 {/if false {/'

echo "$noticed passed, $missed failed"
[ $missed -eq 0 ]
