//! Dates, for people who read logs.

use core::fmt;

/// A time in seconds since 1970, displayed as in `Wed Sep 09 15:24:39 UTC 2015`.
pub struct Date(pub i64);

/// A day since the first of 1970, displayed as in `2015-09-09`.
#[derive(Debug)]
pub struct Day(pub i64);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0);
        write!(f, "{year:04}-{:02}-{day:02}", month + 1)
    }
}

const DAY: i64 = 86_400;

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][days.rem_euclid(7) as usize];
        let (year, month, day) = civil(days);
        let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
            [month as usize];
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        write!(f, "{weekday} {month} {day:02} {hour:02}:{minute:02}:{second:02} UTC {year}")
    }
}

/// Year, month (0 ..= 11) and day (1 ..= 31) of a day since 1970, in the Gregorian calendar.
///
/// Years begin on the first of March, counted from year 0, so that leap days end them; 400 years are a period.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 31, 30, 31, 30, 31 days repeatedly: 153 in five.
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let after_new_year = month >= 10;
    (era * 400 + year + after_new_year as i64, (month + 2) % 12, day)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn dates() {
        for (seconds, text) in [
            (0, "Thu Jan 01 00:00:00 UTC 1970"),
            (-1, "Wed Dec 31 23:59:59 UTC 1969"),
            (951_782_400, "Tue Feb 29 00:00:00 UTC 2000"),
            (951_868_800, "Wed Mar 01 00:00:00 UTC 2000"),
            (1_441_812_279, "Wed Sep 09 15:24:39 UTC 2015"),
            (4_107_542_400, "Mon Mar 01 00:00:00 UTC 2100"),
        ] {
            assert_eq!(Date(seconds).to_string(), text);
        }
        assert_eq!(Day(951_782_400 / DAY).to_string(), "2000-02-29");
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = civil(-200_000);
        for days in -199_999..200_000 {
            let (year, month, day) = before;
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let length = [31, 28 + leap as i64, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month as usize];
            let expected = match (month, day) {
                (11, 31) => (year + 1, 0, 1),
                _ if day == length => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
            before = civil(days);
            assert_eq!(before, expected);
        }
    }
}
