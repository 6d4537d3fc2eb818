import type { EndingHost } from '../platform.ts'

/** How long pm2 waits between its signal and SIGKILL, unless `kill_timeout` is set. */
const PM2_MS = 1600

/** Hosts that end a process some time after their signal, which their processes can tell. */
export function endingHost(): EndingHost | undefined {
  if ('Deno' in globalThis) return undefined
  if (process.env['pm_id'] !== undefined && process.env['PM2_HOME'] !== undefined) {
    const limitMs = Number(process.env['kill_timeout']) || PM2_MS
    return {
      limitMs,
      fix: 'pm2 kills it: set kill_timeout: 30000 in its ecosystem file, or start it with --kill-timeout 30000',
    }
  }
  if (
    /[\\/]fastify-cli[\\/]/.test(process.argv[1] ?? '') ||
    /[\\/]\.bin[\\/]fastify$/.test(process.argv[1] ?? '')
  )
    return {
      fix: 'fastify-cli ends it, after 500 ms unless told otherwise: run `fastify start --close-grace-delay 30000`',
    }
  return undefined
}
