const CLOSES =
  'workerd closes the connection of a request whose body was not fully read, and the reset may overtake the reply'

const OF_WORKERD = {
  'adapter.limit.reply-survives': CLOSES,
  'adapter.limit.reply-survives-close': CLOSES,
  'adapter.limit.chunked': CLOSES,
  'adapter.limit.slow-chunked-body': CLOSES,
}

const READS_ON =
  'Deno.serve keeps reading as long as the sender sends, even after the reply and after canceling the body'

const CLOSES_AT_ONCE =
  'Bun.serve closes the connection of a request with `connection: close` as soon as it has replied, and the reset may overtake the reply'

/** Cases that a handler cannot keep whatever the runtime, by the adapter of `app.mjs`. */
export const DECLARED_OF_ADAPTER = {
  fetch: {
    'adapter.limit.reply-survives-close':
      'a Fetch handler returns its reply, and the server decides when the connection closes',
  },
}

/**
 * Conformance cases that a runtime prevents us from promising, with reasons. They are races in the runtime: such a case
 * may pass or fail.
 */
export const DECLARED = {
  Bun: { 'adapter.limit.reply-survives-close': CLOSES_AT_ONCE },
  Deno: { 'adapter.limit.drain': READS_ON },
  workerd: OF_WORKERD,
  'workerd with node:http': OF_WORKERD,
}
