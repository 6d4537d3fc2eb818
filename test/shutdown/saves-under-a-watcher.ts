import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, vi } from 'vitest'
import { APP, AppProcess } from './app-process.ts'

/** Saves a file of an app that a watcher runs, while a handler runs. `watch` is what Node runs, without the file. */
export async function savesUnderAWatcher(...watch: readonly string[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ackhook-watched-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'dev.mjs')
  const source = `await import(${JSON.stringify(pathToFileURL(APP))})\n`
  await writeFile(file, source)
  // A grace period that is not skipped outlasts the test.
  const shutdown = { grace: '50m', timeout: '59m' }
  const app = await AppProcess.start({ framework: 'node', handlerMs: 1500, shutdown }, [...watch, file])
  expect((await app.post('evt_long')).status).toBe(202)
  await vi.waitFor(() => expect(app.has({ began: 'evt_long' })).toBe(true))
  await writeFile(file, `${source}// saved\n`)
  const began = () => app.lines.flatMap(({ port }, i) => (port === undefined ? [] : [i]))
  await vi.waitFor(() => expect(began()).toHaveLength(2))
  const before = app.lines
    .slice(began()[0], began()[1])
    .flatMap(({ handled, cleanup }) => handled ?? cleanup ?? [])
  expect(before).toEqual(['evt_long', true])
  expect((await app.post('evt_2')).status).toBe(202)
}
