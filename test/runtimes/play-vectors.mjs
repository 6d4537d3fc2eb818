import { bodyOf } from '../vectors/body-of.mjs'

const quiet = { info() {}, warn() {}, error() {} }

/** Runs every vector in these files and returns the wrong replies. Needs only web interfaces. */
export async function playVectors(createReceiver, files) {
  const wrong = []
  let requests = 0
  for (const file of files) {
    for (const { id, options, requests: list } of file.vectors) {
      const seen = []
      const receiver = createReceiver({
        secret: file.secret,
        clock: () => file.now,
        logger: quiet,
        observe: observation => seen.push(observation),
        ...options,
      })
      for (const request of list) {
        seen.length = 0
        requests++
        const reply = await receiver.handle({
          method: request.method,
          headers: new Headers(request.headers),
          body: bodyOf(request),
          context: undefined,
        })
        const got = `${reply.status} ${JSON.parse(reply.body).code} ${reasonOf(seen)}`
        const expected = `${request.status} ${request.code} ${request.reason}`
        if (got !== expected) wrong.push(`${id}: ${got} instead of ${expected}`)
      }
      await receiver.close()
    }
  }
  return { requests, wrong }
}

function reasonOf(seen) {
  const outcome = seen.find(({ kind }) => ['accepted', 'duplicate', 'rejected'].includes(kind))
  return outcome?.kind === 'duplicate' ? 'duplicate' : outcome?.code
}
