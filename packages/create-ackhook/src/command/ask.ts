import { confirm, isCancel, select, text } from '@clack/prompts'
import { answersTo, type Choices, QUESTION_NAMES, QUESTIONS, type Question } from '../project/choices.ts'
import { folderFault } from '../project/write-project.ts'
import type { Args } from './read-args.ts'
import type { Terminal } from './terminal.ts'
import { UsageError } from './usage-error.ts'

/** Folder and choices of the project to write. */
export interface Plan {
  readonly folder: string
  readonly choices: Choices
}

const DEFAULT_FOLDER = 'webhooks'

/** Asks for missing arguments; `undefined` if the user cancels. Throws `UsageError` if some are missing and no one can answer. */
export async function ask(args: Args, terminal: Terminal): Promise<Plan | undefined> {
  if (args.yes) return planOf(args)
  if (!terminal.interactive) {
    requireAll(args)
    return planOf(args)
  }
  const answers: Record<string, unknown> = { folder: args.folder, ...args.choices }
  for (const [name, question] of Object.entries(prompts(terminal))) {
    answers[name] ??= await question()
    if (isCancel(answers[name])) return undefined
  }
  const { folder, ...choices } = answers
  return { folder: folder as string, choices: choices as unknown as Choices }
}

function planOf({ folder = DEFAULT_FOLDER, choices }: Args): Plan {
  const defaults = Object.fromEntries(QUESTION_NAMES.map(question => [question, answersTo(question)[0]]))
  return { folder, choices: { ...(defaults as unknown as Choices), tests: true, ...choices } }
}

function requireAll({ folder, choices }: Args): void {
  const missing = [...QUESTION_NAMES, 'tests' as const].filter(name => choices[name] === undefined)
  const names = [...(folder === undefined ? ['a folder'] : []), ...missing.map(name => `--${name}`)]
  if (names.length === 0) return
  const fix = 'add --yes for the defaults'
  throw new UsageError(`there is no terminal to ask questions in: ${fix}, or give ${names.join(', ')}`)
}

function prompts({ input, output, cwd }: Terminal): Readonly<Record<string, () => Promise<unknown>>> {
  const streams = { input, output }
  const choose = (question: Question) => () =>
    select({
      ...streams,
      message: QUESTIONS[question].question,
      options: Object.entries(QUESTIONS[question].answers).map(([value, label]) => ({ value, label })),
    })
  return {
    folder: () =>
      text({
        ...streams,
        message: 'Which folder? It must be new or empty',
        placeholder: DEFAULT_FOLDER,
        defaultValue: DEFAULT_FOLDER,
        validate: folder => folderFault(cwd, folder || DEFAULT_FOLDER),
      }),
    framework: choose('framework'),
    inbox: choose('inbox'),
    database: choose('database'),
    language: choose('language'),
    tests: () => confirm({ ...streams, message: 'Add a test of the handler and the route?' }),
  }
}
