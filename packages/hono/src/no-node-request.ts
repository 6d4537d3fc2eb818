// Replaces node-request.ts in bundles for Workers, where Hono has a Fetch request and never Node's.
import type * as onNode from './node-request.ts'

export type NodeRequest = onNode.NodeRequest

export function nodeRequestOf(): NodeRequest | undefined {
  return undefined
}

export const nodeBody: typeof onNode.nodeBody = () => {
  throw new Error('There is no request of Node here.')
}

export function replyingEarly(): undefined {
  return undefined
}
