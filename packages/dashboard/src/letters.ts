export { changeLetters, errorNameOf, type LetterFilter, matchesLetter } from './letters/letter-filter.ts'
