import { readFileSync } from 'node:fs'

/** Packages of the project whose versions matter. Those of the benchmark are all that it has but `workerd`. */
const OF_THE_PROJECT = [
  ...['express', 'fastify', 'hono', '@hono/node-server', 'lru-cache', 'ioredis', 'bullmq', 'pg'],
  '@photostructure/sqlite',
]

/** Returns the versions of all measured packages, such as `express 5.3.0`. */
export function installedVersions() {
  const read = file => JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  const versionOf = (folder, name) => `${name} ${read(`${folder}/node_modules/${name}/package.json`).version}`
  const ofTheBenchmark = Object.keys(read('../package.json').dependencies).filter(one => one !== 'workerd')
  return [
    ...ofTheBenchmark.map(name => versionOf('..', name)),
    ...OF_THE_PROJECT.map(name => versionOf('../..', name)),
  ]
}
