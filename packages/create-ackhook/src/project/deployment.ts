import type { Choices } from './choices.ts'
import type { Code } from './code.ts'
import { FRAMEWORKS } from './frameworks.ts'
import { DURABLE_INBOXES } from './inboxes.ts'
import type { Facts } from './manifest.ts'

/** Line of Node in images and in CI. */
const NODE = 24

/** Returns the files that build an image and check each commit. */
export function deploymentFiles(
  code: Code,
  choices: Choices,
  facts: Facts,
): Readonly<Record<string, string>> {
  const checks = checksOf(code, choices)
  return {
    Dockerfile: code.extension === 'ts' ? compiledImage(choices, facts) : image(choices, facts),
    '.dockerignore': '.git\nnode_modules\ndist\n.env*\n*.db*\ndata\n',
    ...(checks.length > 0 && { '.github/workflows/ci.yml': workflow(checks, facts) }),
  }
}

function image(choices: Choices, { manager }: Facts): string {
  return `FROM node:${NODE}-slim
WORKDIR /app
ENV NODE_ENV=production
${manager.setup === undefined ? '' : `RUN ${manager.setup}\n`}COPY ${manager.reads.join(' ')} ./
RUN ${manager.installForProduction}
COPY src ./src
${ending(choices, 'src')}`
}

function compiledImage(choices: Choices, { manager }: Facts): string {
  const setup = manager.setup === undefined ? '' : `RUN ${manager.setup}\n`
  return `FROM node:${NODE}-slim AS packages
WORKDIR /app
${setup}COPY ${manager.reads.join(' ')} ./

FROM packages AS build
RUN ${manager.install}
COPY tsconfig.json ./
COPY src ./src
RUN ${manager.name} run build

FROM packages
ENV NODE_ENV=production
RUN ${manager.installForProduction}
COPY --from=build /app/dist ./dist
${ending(choices, 'dist')}`
}

/** Node is process 1, so it receives SIGTERM: the app drains before it ends. */
function ending({ framework, inbox }: Choices, folder: string): string {
  return `${FRAMEWORKS[framework].image ?? ''}${DURABLE_INBOXES[inbox]?.image ?? ''}USER node
EXPOSE 3000
CMD ["node", "${folder}/server.js"]
`
}

/** Returns the scripts that check a commit. */
function checksOf({ extension }: Code, { tests }: Choices): readonly string[] {
  return [...(extension === 'ts' ? ['typecheck'] : []), ...(tests ? ['test'] : [])]
}

function workflow(checks: readonly string[], { manager }: Facts): string {
  const steps = [
    ...(manager.setup === undefined ? [] : [manager.setup]),
    manager.install,
    ...checks.map(check => `${manager.name} run ${check}`),
  ]
  return `name: CI

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 10
    steps:
      - uses: actions/checkout@v5
      - uses: actions/setup-node@v5
        with:
          node-version: ${NODE}
${steps.map(step => `      - run: ${step}\n`).join('')}`
}
