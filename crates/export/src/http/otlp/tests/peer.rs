//! A collector on loopback.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

/// Starts a collector that gives these answers, one per connection, and then none. Returns its URL and the requests.
pub fn collector(answers: &[&str]) -> (String, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut answers: VecDeque<_> = answers.iter().map(|answer| answer.to_string()).collect();
    let (sender, requests) = mpsc::channel();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
            let (head, body) = loop {
                let read = stream.read(&mut buffer).unwrap_or(0);
                bytes.extend_from_slice(&buffer[..read]);
                if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
                    let head = String::from_utf8(bytes[..at].to_vec()).unwrap();
                    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
                    if bytes.len() >= at + 4 + length.parse::<usize>().unwrap() {
                        break (head, bytes.split_off(at + 4));
                    }
                }
                assert!(read > 0, "half a request");
            };
            if sender.send((head, body)).is_err() {
                return;
            }
            match answers.pop_front() {
                Some(answer) => stream.write_all(answer.as_bytes()).unwrap(),
                None => kept.push(stream),
            }
        }
    });
    (format!("http://127.0.0.1:{port}/v1/metrics"), requests)
}
