import { readFileSync } from 'node:fs'

const OF_THE_BENCHMARK = [
  'stripe',
  'svix',
  'standardwebhooks',
  '@octokit/webhooks',
  '@octokit/webhooks-methods',
  '@slack/bolt',
  '@hookflo/tern',
  'fastify-raw-body',
]
const OF_THE_PROJECT = [
  'express',
  'fastify',
  'hono',
  '@hono/node-server',
  'lru-cache',
  'ioredis',
  'bullmq',
  'pg',
  '@photostructure/sqlite',
]

/** Returns the versions of all measured packages, such as `express 5.3.0`. */
export function installedVersions() {
  const read = (folder, name) => {
    const file = new URL(`${folder}/node_modules/${name}/package.json`, import.meta.url)
    return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`
  }
  return [
    ...OF_THE_BENCHMARK.map(name => read('..', name)),
    ...OF_THE_PROJECT.map(name => read('../..', name)),
  ]
}
