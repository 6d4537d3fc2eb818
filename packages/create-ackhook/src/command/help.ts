import { answersTo, QUESTION_NAMES } from '../project/choices.ts'

const options = QUESTION_NAMES.map(question => {
  const answers = answersTo(question)
  return `  ${`--${question} <name>`.padEnd(18)}  ${answers.join(', ')} (default: ${answers[0]})\n`
})

export const HELP: string = `Usage: npm create ackhook [folder] -- [options]

Writes a small app that receives webhooks: a handler, a route and a test.

Options:
${options.join('')}  --no-tests          leave out the test
  -y, --yes           use the defaults for missing options, and do not ask
  -h, --help          show this
  --version           show the version

Asks for missing options. The folder must be new or empty.

Examples:
  $ npm create ackhook
  $ npm create ackhook my-app -- --yes
  $ npm create ackhook my-app -- --framework hono --inbox sqlite --yes
`
