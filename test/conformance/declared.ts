/** Cases that a framework makes impossible, with reasons. */
export const DECLARED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  fetch: {
    'adapter.limit.reply-survives-close':
      'a Fetch handler returns its reply, and the server decides when the connection closes',
  },
}
