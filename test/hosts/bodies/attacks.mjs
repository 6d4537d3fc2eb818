/** The largest body that a receiver accepts by default, and the largest that is only counted. */
const LARGEST = 1_048_576
const SMALL = 65_536

/**
 * What strangers without a secret do: `connections` at a time declare `length` bytes each, send `first` of them, and then
 * `more` bytes every `everyMs`, but never the last one.
 *
 * @type {Readonly<Record<string, readonly Readonly<{
 *   connections: number, length?: number, first: number, more?: number, everyMs?: number
 * }>[]>>}
 */
export const ATTACKS = {
  '64 heads that declare 1 MiB': [{ connections: 64, length: LARGEST, first: 0 }],
  '66 MiB of bodies that stop one byte short': [{ connections: 66, length: LARGEST, first: LARGEST - 1 }],
  '2,000 heads that declare 65,535 bytes': [{ connections: 2000, length: SMALL - 1, first: 0 }],
  'a byte a second': [{ connections: 1200, length: SMALL - 1, first: 1, more: 1, everyMs: 1000 }],
  'bodies that stop at 64 KiB and a byte': [{ connections: 1100, length: LARGEST, first: SMALL + 1 }],
  'chunked bodies that stop at 64 KiB and a byte': [{ connections: 1100, first: SMALL + 1 }],
  'waves of a kilobyte that come back at once': [{ connections: 1500, length: SMALL - 1, first: 1024 }],
  'uploads that take a step before they look stalled': [
    { connections: 1200, length: SMALL, first: 16_384, more: 16_384, everyMs: 800 },
    { connections: 70, length: LARGEST, first: 900_000, more: 16_384, everyMs: 800 },
  ],
  'many small beside few large': [
    { connections: 1500, length: 2048, first: 1 },
    { connections: 70, length: LARGEST, first: LARGEST - 1 },
  ],
}
