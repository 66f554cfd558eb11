/* picollo_log.hpp: encodings and logs. Compiled with exceptions and without. */
#include "cpp_test.hpp"

#include <cmath>
#include <vector>

static_assert(moves_only<picollo::log_reader>);

static void encodings()
{
    picollo::snapshot snapshot = must(digits().snapshot());
    for (const auto how : {picollo::encoding::hdr_v2, picollo::encoding::hdr_v2_compressed, picollo::encoding::native}) {
        const std::vector<unsigned char> bytes = must(snapshot.encode(how));
        CHECK(same(snapshot, must(picollo::snapshot::decode(bytes))));
        CHECK(same(snapshot, must(picollo::snapshot::decode(must(snapshot.encode_base64(how))))));
        FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>(bytes.data(), bytes.size() - 1)));
    }
    FAILS(unsupported, must(picollo::snapshot::decode(must(snapshot.encode()))).update());
    FAILS(corrupt, picollo::snapshot::decode("nonsense"));
    FAILS(corrupt, picollo::snapshot::decode(picollo::span<const unsigned char>()));
    FAILS(out_of_memory, picollo::snapshot::decode(must(snapshot.encode()), 10));

    /* Consecutive encodings, in both kinds of view. */
    const std::string one = must(snapshot.encode_base64()), two = one + '\n' + one;
    std::size_t taken = 0;
    CHECK(one.rfind("HISTFAAA", 0) == 0);
    CHECK(same(snapshot, must(picollo::snapshot::decode_first(two, taken))) && taken == one.size() + 1);
    FAILS(corrupt, picollo::snapshot::decode_first(picollo::span<const unsigned char>(), taken));
    FAILS(out_of_memory, picollo::snapshot::decode_first(two, taken, 10));
    FAILS(incompatible, must(must(picollo::histogram::create()).snapshot()).encode(picollo::encoding::hdr_v2));
    CHECK(must(snapshot.hgrm()).find("Percentile") != std::string::npos);
    CHECK(must(snapshot.hgrm(5, 1, true)).rfind("\"Value\"", 0) == 0);
    FAILS(invalid_argument, snapshot.hgrm(5, -1));
}

static void logs()
{
    const picollo::snapshot snapshot = must(digits().snapshot());
    const std::string long_tag = std::string(300, 'x') + "é";
    std::ostringstream out;
    picollo::log_writer writer(out);
    must(writer.header(1700000000.5, "two lines\nof comment"));
    must(writer.write(snapshot, 0.25, 1, "A"));
    must(writer.write(snapshot, 1.25, 2));
    must(writer.write(snapshot, 3.25, 1, long_tag.c_str()));
    FAILS(invalid_argument, writer.write(snapshot, 0, 1, "no, commas"));

    /* Reads a stream from its position, and writes it again with its times and tags. */
    std::istringstream file("junk\n" + out.str());
    file.ignore(5);
    picollo::log_reader first = must(picollo::log_reader::create(file));
    picollo::log_reader reader = std::move(first);
    CHECK(std::isnan(reader.start_seconds()));
    FAILS(empty, reader.decode());
    const char *const tags[] = {"A", "", long_tag.c_str()};
    const double starts[] = {1700000000.75, 1700000001.75, 1700000003.75};
    std::ostringstream copied, alone;
    picollo::log_writer copy(copied), by_itself(alone);
    for (int i = 0; i < 3; i++) {
        const std::optional<picollo::log_interval> interval = must(reader.next());
        CHECK(interval.has_value());
        if (!interval) return;
        CHECK_STRING(tags[i], interval->tag);
        CHECK(interval->start_seconds == starts[i] && interval->end_seconds == starts[i] + (i == 1 ? 2 : 1));
        const picollo::snapshot read = must(reader.decode());
        CHECK(same(snapshot, read));
        must(copy.write(read, *interval));
        /* The snapshot has them, and so have its copies. */
        const picollo::snapshot of_it = must(must(read.copy()).corrected(1 << 30));
        CHECK(of_it.tag() == tags[i] && of_it.start_seconds() == starts[i] && of_it.end_seconds() == interval->end_seconds);
        must(by_itself.write(of_it));
    }
    CHECK(reader.start_seconds() == 1700000000.5);
    CHECK(!must(reader.next()) && !must(reader.next()));
    CHECK_STRING(copied.str(), alone.str());

    CHECK(std::isnan(snapshot.start_seconds()) && std::isnan(snapshot.end_seconds()) && snapshot.tag().empty());
    FAILS(invalid_argument, by_itself.write(snapshot));
    picollo::snapshot of_ours = must(snapshot.copy());
    of_ours.interval(5, 7.5, "x");
    must(by_itself.write(of_ours));
    CHECK(alone.str().find("\nTag=x,5.000,2.500,") != std::string::npos);
    std::ostringstream by_clock;
    picollo::log_writer with_times(by_clock);
    must(with_times.write(snapshot, std::chrono::system_clock::time_point() + std::chrono::seconds(5), std::chrono::milliseconds(500)));
    CHECK(by_clock.str().rfind("5.000,0.500,", 0) == 0);
}

static void broken_logs()
{
    const std::string good = "0.1,1.0,0.0," + must(must(digits().snapshot()).encode_base64()) + "\n";
    picollo::log_reader reader = must(picollo::log_reader::create(good + "no interval\n" + good));
    CHECK(must(reader.next()));
    FAILS(corrupt, reader.next());
    CHECK_U64(2, reader.line());
    CHECK(must(reader.next()));
    reader.max_counters(10);
    FAILS(out_of_memory, reader.decode());
    reader.max_counters(0);
    const picollo::snapshot last = must(reader.decode());
    reader = must(picollo::log_reader::create(""));
    CHECK(!must(reader.next()));
    CHECK_U64(7, must(last.counts()).total);
}

int main()
{
    RUN(encodings);
    RUN(logs);
    RUN(broken_logs);
    return report();
}
