import type { StoreNotice } from '@ackhook/core/spi'

/** Returns notices about PostgreSQL settings that may lose confirmed data, or run an event twice. */
export function postgresNotices(settings: Readonly<Record<string, unknown>>): readonly StoreNotice[] {
  const notices: StoreNotice[] = []
  const off = ['fsync', 'synchronous_commit'].filter(name => settings[name] === 'off')
  if (off.length > 0) {
    const fix = off.map(name => `${name} = on`).join(' and ')
    notices.push({
      code: 'postgres_not_durable',
      message: `PostgreSQL has ${off.join(' and ')} off: if the server crashes, acknowledged events are lost. Set ${fix}.`,
    })
  }
  const { isolation } = settings
  if (isolation !== 'read committed') {
    notices.push({
      code: 'postgres_isolation',
      message: `PostgreSQL's default_transaction_isolation is ${isolation}: an event that is redelivered while its job is being replaced by its id may run twice. Set it to 'read committed' for the inbox's user.`,
    })
  }
  return notices
}
