import { expect, test } from 'vitest'
import { leaveConnections } from './backend-patches.ts'

function aBackend(most: number) {
  const under: { command: string; end: (error?: Error) => void }[] = []
  const backend = {
    run: (command: string, _params: readonly unknown[] = []): Promise<unknown> =>
      new Promise<void>((resolve, reject) => {
        under.push({ command, end: error => (error === undefined ? resolve() : reject(error)) })
      }),
  }
  leaveConnections(backend, most)
  const started = () => under.map(({ command }) => command)
  return { run: (command: string) => backend.run(command, []), under, started }
}

const turn = () => new Promise(resolve => setImmediate(resolve))

test('commands beyond the limit wait and run in order, whether earlier ones fail or not', async () => {
  const { run, under, started } = aBackend(2)
  const answers = ['a', 'b', 'c', 'd'].map(command => run(command))
  await turn()
  expect(started()).toEqual(['a', 'b'])
  under[0]!.end()
  await answers[0]
  await turn()
  expect(started()).toEqual(['a', 'b', 'c'])
  under[1]!.end(new Error('gone'))
  await expect(answers[1]).rejects.toThrow('gone')
  await turn()
  expect(started()).toEqual(['a', 'b', 'c', 'd'])
  under[2]!.end()
  under[3]!.end()
  await Promise.all([answers[2], answers[3]])
  void run('e')
  void run('f')
  void run('g')
  await turn()
  expect(started().slice(4)).toEqual(['e', 'f'])
})
