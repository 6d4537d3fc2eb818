import { expect, it, onTestFinished } from 'vitest'
import { inboxProcess } from './inbox-process.ts'

it('rejects if its process cannot be started', async () => {
  const { execPath } = process
  onTestFinished(() => {
    process.execPath = execPath
  })
  process.execPath = '/nowhere/node'
  await expect(inboxProcess('/nowhere/inbox.mjs')).rejects.toThrow('process has ended')
})
