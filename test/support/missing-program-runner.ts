import { type RunnerTestSuite as Suite, type RunnerTestCase as Test, TestRunner } from 'vitest'

/** A test whose server is missing fails with that reason alone, and not also with what its hooks then trip over. */
// biome-ignore lint/style/noDefaultExport: Vitest takes a runner from there.
export default class MissingProgramRunner extends TestRunner {
  override onAfterRunTask(test: Test): void {
    keepReason(test)
    super.onAfterRunTask(test)
  }

  override async onAfterRunSuite(suite: Suite): Promise<void> {
    keepReason(suite)
    await super.onAfterRunSuite(suite)
  }
}

function keepReason({ result }: Test | Suite): void {
  const reason = result?.errors?.find(({ message }) => message.startsWith('These tests need '))
  if (reason !== undefined && result !== undefined) result.errors = [reason]
}
