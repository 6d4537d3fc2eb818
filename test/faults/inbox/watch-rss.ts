import type { ReceiverProcess } from './receiver-process.ts'

/** Polls every 200 ms, and returns the maximum. */
export function watchRss(receiver: ReceiverProcess): { stop(): Promise<number> } {
  let watching = true
  let most = 0
  const asking = (async () => {
    while (watching) {
      most = Math.max(most, await receiver.ask<number>('rss'))
      await new Promise(resolve => setTimeout(resolve, 200))
    }
  })()
  return {
    async stop() {
      watching = false
      await asking
      return most
    },
  }
}
