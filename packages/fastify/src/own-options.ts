import { nearest, RECEIVER_OPTIONS, RENAMED_OPTIONS, refuseUnknownNames } from '@ackhook/core/spi'
import type { FastifyInstance } from 'fastify'

const OPTIONS: readonly string[] = [
  'path',
  'prefix',
  'decorateAs',
  'receiver',
  'logLevel',
  'logSerializers',
  ...RECEIVER_OPTIONS,
]

/** How Fastify names the plugin: by its file, or by its function if a bundler has moved it. */
const AUTOLOAD = /@fastify[\\/]autoload|(?:^|-> )autoload(?: ->|$)/

/**
 * Returns the options without those that `@fastify/autoload` passes to every plugin, and logs their names. Refuses every
 * other unknown option, and always one that looks like a misspelling of ours.
 */
export function ownOptions<Options extends object>(app: FastifyInstance, options: Options): Options {
  const own = Object.entries(options ?? {}).filter(
    ([name]) =>
      OPTIONS.includes(name) || Object.hasOwn(RENAMED_OPTIONS, name) || nearest(name, OPTIONS) !== undefined,
  )
  const ignored = Object.keys(options ?? {}).filter(name => !own.some(([one]) => one === name))
  const kept = ignored.length > 0 && isAutoloaded(app) ? (Object.fromEntries(own) as Options) : options
  refuseUnknownNames(kept, OPTIONS, '', '{ secret: process.env.SIGNING_SECRET }', RENAMED_OPTIONS)
  if (kept !== options) {
    app.log.info(
      `@ackhook/fastify ignores options that @fastify/autoload may pass to every plugin: ${ignored.join(', ')}`,
    )
  }
  return kept
}

/** Returns whether a scope around the plugin has autoload. A scope's name has only the plugins that share the scope. */
function isAutoloaded(app: FastifyInstance): boolean {
  for (let scope: FastifyInstance | null = app; scope !== null; scope = Object.getPrototypeOf(scope)) {
    if (AUTOLOAD.test(scope.pluginName ?? '')) return true
  }
  return false
}
