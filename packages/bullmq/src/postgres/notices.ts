import type { StoreNotice } from '@ackhook/core/spi'

/** From PostgreSQL's own settings: those under which it may lose what it has confirmed. */
export function postgresNotices(settings: Readonly<Record<string, unknown>>): readonly StoreNotice[] {
  const off = ['fsync', 'synchronous_commit'].filter(name => settings[name] === 'off')
  if (off.length === 0) return []
  const fix = off.map(name => `${name} = on`).join(' and ')
  return [
    {
      code: 'postgres_not_durable',
      message: `PostgreSQL has ${off.join(' and ')} off: a crash of the server loses acknowledged events. Set ${fix}.`,
    },
  ]
}
