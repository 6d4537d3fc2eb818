// Loaded with `--import` by run.mjs: replaces the repository's BullMQ by another one.
import { register } from 'node:module'

const own = new URL('../../../../node_modules/bullmq/', import.meta.url).href
const code = `
export async function resolve(specifier, context, next) {
  const found = await next(specifier, context)
  if (!found.url.startsWith(${JSON.stringify(own)})) return found
  return { ...found, url: found.url.replace(${JSON.stringify(own)}, ${JSON.stringify(process.env.NEXT_BULLMQ)}) }
}`
register(`data:text/javascript,${encodeURIComponent(code)}`)
