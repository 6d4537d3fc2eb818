export { Follower, type Redriven } from './letters/follower.ts'
export { changeLetters, errorNameOf, type LetterFilter, matchesLetter } from './letters/letter-filter.ts'
export { describeRedrive, type Outcome, type OutcomeError } from './protocol/outcome.ts'
