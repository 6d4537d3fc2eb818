import { watchResident } from './memory/resident.mjs'

/** Resident memory over ten minutes of load. Not part of a whole run, which watches it for a shorter time. */
export async function measureFlat({ quick }) {
  const { markdown, figures } = await watchResident({ seconds: quick ? 60 : 600 })
  return { markdown: markdown.replace('### Resident memory', '## Resident memory, ten minutes'), figures }
}
