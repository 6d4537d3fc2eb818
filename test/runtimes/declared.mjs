/** Cases of the conformance suite that a runtime itself makes impossible, with the reason. */
export const DECLARED = {
  workerd: {
    'adapter.limit.reply-survives':
      'workerd closes the connection of a request whose body was not read, and a sender that is still writing sees the reset before the reply',
  },
}
