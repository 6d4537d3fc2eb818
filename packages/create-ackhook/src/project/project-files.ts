import type { Choices } from './choices.ts'
import { Code } from './code.ts'
import { DATABASE, databaseFiles, hasDatabase } from './database.ts'
import { deploymentFiles } from './deployment.ts'
import { FRAMEWORKS } from './frameworks.ts'
import { DURABLE_INBOXES } from './inboxes.ts'
import { settingsOf } from './manager.ts'
import { type Facts, manifest } from './manifest.ts'
import { readme } from './readme.ts'
import { testFile } from './test-file.ts'

/** Returns a project's files, by path. */
export function projectFiles(choices: Choices, facts: Facts): Readonly<Record<string, string>> {
  const code = new Code(choices)
  const { extension } = code
  const { app, server } = FRAMEWORKS[choices.framework]
  const database = hasDatabase(choices) ? DATABASE : { env: '', ignored: '' }
  const settings = `PORT=3000\n${DURABLE_INBOXES[choices.inbox]?.env ?? ''}${database.env}`
  return {
    'package.json': manifest(choices, facts),
    ...settingsOf(facts.manager),
    'README.md': readme(code, choices, facts),
    '.gitignore': `node_modules/\ndist/\n.env\n.env.*\n!.env.example\n*.db*\n${database.ignored}`,
    '.env.example': `# The endpoint's signing secret. One of your own: openssl rand -hex 24\nSIGNING_SECRET=\n${settings}`,
    '.env': `# For this machine only: the platform shows the secret of an endpoint.\nSIGNING_SECRET=${facts.secret}\n${settings}`,
    ...(extension === 'ts' && { 'tsconfig.json': TSCONFIG }),
    [`src/app.${extension}`]: app(code, choices),
    [`src/server.${extension}`]: server(code, choices),
    ...(hasDatabase(choices) && databaseFiles(code)),
    ...deploymentFiles(code, choices, facts),
    ...(choices.tests && { [`src/app.test.${extension}`]: testFile(code, choices) }),
  }
}

const TSCONFIG = `${JSON.stringify(
  {
    compilerOptions: {
      module: 'nodenext',
      target: 'es2023',
      types: ['node'],
      strict: true,
      verbatimModuleSyntax: true,
      erasableSyntaxOnly: true,
      rewriteRelativeImportExtensions: true,
      skipLibCheck: true,
      rootDir: 'src',
      outDir: 'dist',
    },
    include: ['src'],
  },
  null,
  2,
)}\n`
