const CLOSES =
  'workerd closes the connection of a request whose body was not read to its end, and the reset may overtake the reply'

const OF_WORKERD = {
  'adapter.limit.reply-survives': CLOSES,
  'adapter.limit.chunked': CLOSES,
  'adapter.limit.slow-chunked-body': CLOSES,
}

const READS_ON =
  'Deno.serve reads on for as long as the sender sends, after the reply and whether the body was cancelled or not'

/**
 * Cases of the conformance suite that a runtime itself does not let us promise, with the reason. They are races
 * in the runtime: such a case may hold, and may not.
 */
export const DECLARED = {
  Deno: { 'adapter.limit.drain': READS_ON },
  workerd: OF_WORKERD,
  'workerd with node:http': OF_WORKERD,
}
