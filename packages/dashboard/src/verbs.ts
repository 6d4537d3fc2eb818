/**
 * What an operator can do with an inbox: one description of each verb, with its arguments, and the function that does it.
 * The command line, MCP, the HTTP API and the pages are made from it.
 *
 * @module
 */

export { Pace, RATE_RULE, readRate } from './letters/pace.ts'
export { type RefusalCode, Refused } from './protocol/refused.ts'
export type { Block, Column, Fact, FieldSchema, FieldView, Outcome, Tone } from './protocol/verbs.ts'
export { type Part, PLAIN, type Speech, say, type Words } from './protocol/words.ts'
export { fieldsOf, inputSchemaOf } from './verbs/describe.ts'
export { VERBS } from './verbs/table.ts'
export {
  type Call,
  type Caller,
  defineVerb,
  type Plan,
  type Prepared,
  type Progress,
  perform,
  prepare,
  readArgs,
  type Verb,
} from './verbs/verb.ts'
