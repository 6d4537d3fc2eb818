import { parseArgs } from 'node:util'
import { answersTo, type Choices, isAnswer, QUESTION_NAMES, type Question } from '../project/choices.ts'
import { UsageError } from './usage-error.ts'

/** Arguments as typed. For absent ones, the command asks or uses a default. */
export interface Args {
  readonly folder: string | undefined
  readonly choices: Partial<Choices>
  readonly yes: boolean
  readonly shown: 'help' | 'version' | undefined
}

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const OPTIONS = {
  ...{ framework: text, inbox: text, database: text, language: text, tests: flag },
  ...{ yes: { ...flag, short: 'y' }, help: { ...flag, short: 'h' }, version: flag },
} as const

/** Parses arguments. Throws `UsageError`. */
export function readArgs(args: readonly string[]): Args {
  const { values, positionals } = parse(args)
  if (positionals.length > 1) throw new UsageError(`give one folder, not ${positionals.join(' and ')}`)
  const { tests, yes = false } = values
  const answers = QUESTION_NAMES.flatMap(question => {
    const given = values[question]
    return given === undefined ? [] : [[question, answer(question, given)]]
  })
  return {
    folder: positionals[0],
    choices: { ...Object.fromEntries(answers), ...(tests !== undefined && { tests }) },
    yes,
    shown: values.help ? 'help' : values.version ? 'version' : undefined,
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true, allowNegative: true })
  } catch (cause) {
    // Keeps only the first sentence: Node's text goes on to explain how to pass it as a positional argument.
    const [first = ''] = (cause as Error).message.split('. ')
    throw new UsageError(`${first.replace(/\.$/, '')}: add --help for the options`, { cause })
  }
}

function answer(question: Question, given: string): string {
  if (isAnswer(question, given)) return given
  throw new UsageError(`--${question} ${given}: choose one of ${answersTo(question).join(', ')}`)
}
