import { expect, test, vi } from 'vitest'
import type { NewJob } from '../engine/event-job.ts'
import { GroupCommit } from './group-commit.ts'

function job(jobId: string, body = '{}'): NewJob {
  const data = { id: jobId, namespace: '', receivedAt: 0, fingerprint: 0, retentionMs: 0, body, token: jobId }
  return { name: 'a.b', data, opts: { jobId } }
}

function withResolvers() {
  let resolve: (own: boolean) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const promise = new Promise<boolean>((one, other) => {
    resolve = one
    reject = other
  })
  return { promise, resolve, reject }
}

function heldServer() {
  const batches: {
    ids: string[]
    answer: (...own: boolean[]) => void
    fail: (error: Error, i?: number) => void
  }[] = []
  const add = (jobs: readonly NewJob[]) => {
    const answers = jobs.map(() => withResolvers())
    batches.push({
      ids: jobs.map(({ opts }) => opts.jobId),
      answer: (...own) => void own.map((one, i) => answers[i]!.resolve(one)),
      fail: (error, i = 0) => answers[i]!.reject(error),
    })
    return answers.map(({ promise }) => promise)
  }
  return { batches, add }
}

function submitTo(send: (jobs: readonly NewJob[]) => Promise<boolean>[], deadlineMs: number) {
  const group = new GroupCommit({ send, lengthOf: ({ data }: NewJob) => data.body.length, deadlineMs })
  return (one: NewJob) => group.submit(one)
}

const turn = () => new Promise(resolve => setImmediate(resolve))

/** Ignores the rejection: the deadline passes while another test runs. */
const neverAnswered = (answer: Promise<boolean>) => void answer.catch(() => {})

/** A server that has not replied to the first job yet, so that further jobs go in batches. */
function busyServer(deadlineMs = 1000) {
  const { batches, add } = heldServer()
  const submit = submitTo(add, deadlineMs)
  void submit(job('first'))
  batches.length = 0
  return { batches, submit }
}

test('a job is sent immediately if nothing is in progress, and gets its own result', async () => {
  const { batches, add } = heldServer()
  const submit = submitTo(add, 1000)
  for (const own of [true, false]) {
    const answer = submit(job('a'))
    expect(batches.at(-1)!.ids).toEqual(['a'])
    batches.at(-1)!.answer(own)
    expect(await answer).toBe(own)
  }
  const failing = submit(job('a'))
  batches.at(-1)!.fail(new Error('connection closed'))
  await expect(failing).rejects.toThrow('connection closed')
  void submit(job('b'))
  expect(batches.at(-1)!.ids).toEqual(['b'])
})

test('jobs of one turn follow the first in one batch, and each gets its own result', async () => {
  const { batches, add } = heldServer()
  const submit = submitTo(add, 1000)
  const answers = Promise.all([submit(job('a')), submit(job('b')), submit(job('c')), submit(job('d'))])
  await turn()
  expect(batches.map(({ ids }) => ids)).toEqual([['a'], ['b', 'c', 'd']])
  batches[0]!.answer(true)
  batches[1]!.answer(true, false, true)
  expect(await answers).toEqual([true, true, false, true])
})

test('jobs that arrive while two batches are in progress join the third', async () => {
  const { batches, submit } = busyServer()
  const answers: Promise<boolean>[] = []
  for (const id of ['a', 'b', 'c', 'd']) {
    answers.push(submit(job(id)))
    await turn()
  }
  expect(batches.map(({ ids }) => ids)).toEqual([['a'], ['b']])
  batches[0]!.answer(false)
  await vi.waitFor(() => expect(batches.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c', 'd']]))
  batches[1]!.answer(false)
  batches[2]!.answer(false, false)
  expect(await Promise.all(answers)).toEqual([false, false, false, false])
})

test('a batch has at most 100 jobs, or fewer with large bodies', async () => {
  const { batches, submit } = busyServer()
  for (let i = 0; i < 150; i++) neverAnswered(submit(job(`small${i}`)))
  await turn()
  expect(batches.map(({ ids }) => ids.length)).toEqual([100])
  await turn()
  expect(batches.map(({ ids }) => ids.length)).toEqual([100, 50])

  const other = busyServer()
  const large = 'x'.repeat(3_000_000)
  for (const id of ['a', 'b', 'c']) neverAnswered(other.submit(job(id, large)))
  await turn()
  await turn()
  expect(other.batches.map(({ ids }) => ids)).toEqual([['a', 'b'], ['c']])
})

test('a failing job does not affect the others in its batch', async () => {
  const { batches, submit } = busyServer()
  const answers = Promise.allSettled([submit(job('a')), submit(job('b')), submit(job('c'))])
  await turn()
  batches[0]!.fail(new Error('no such character'), 1)
  batches[0]!.answer(true, true, true)
  expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

test('a failure affects only its own batch', async () => {
  const { batches, submit } = busyServer()
  const failing = submit(job('a'))
  await turn()
  const fine = submit(job('b'))
  await turn()
  batches[0]!.fail(new Error('connection closed'))
  batches[1]!.answer(false)
  await expect(failing).rejects.toThrow('connection closed')
  expect(await fine).toBe(false)
})

test('a hanging server does not block later jobs', async () => {
  const { batches, submit } = busyServer(50)
  const stuck = [submit(job('a'))]
  await turn()
  stuck.push(submit(job('b')))
  await turn()
  for (const answer of stuck) await expect(answer).rejects.toThrow('within 50 ms')
  const later = submit(job('c'))
  await turn()
  batches.at(-1)!.answer(false)
  expect(await later).toBe(false)
})

test('a job that waits longer than the deadline is rejected without being sent', async () => {
  const { batches, submit } = busyServer(50)
  const answers = Array.from({ length: 450 }, (_, i) => submit(job(String(i))))
  const settled = await Promise.allSettled(answers)
  expect(settled.every(({ status }) => status === 'rejected')).toBe(true)
  expect(batches.reduce((sum, { ids }) => sum + ids.length, 0)).toBeLessThanOrEqual(400)
})
