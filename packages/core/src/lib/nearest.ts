/** Length of the longest name to compare. No name of ours is longer, but a sender may invent any. */
const LONGEST = 100

/** Returns the candidate that `name` most likely misspells, if there is one. Slow, so only for messages. */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  if (name.length > LONGEST) return undefined
  let best: string | undefined
  let least = Math.min(3, Math.ceil(name.length / 3)) + 1
  for (const candidate of candidates) {
    if (candidate === name) continue
    const distance = distanceOf(name.toLowerCase(), candidate.toLowerCase())
    if (distance < least) [best, least] = [candidate, distance]
  }
  return best
}

/** Number of letters to insert, remove or replace (Levenshtein distance). */
export function distanceOf(a: string, b: string): number {
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 0; i < a.length; i++) {
    const row = [i + 1]
    for (let j = 0; j < b.length; j++) {
      row.push(Math.min(last[j]! + Number(a[i] !== b[j]), last[j + 1]! + 1, row[j]! + 1))
    }
    last = row
  }
  return last[b.length]!
}
