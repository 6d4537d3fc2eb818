import { watchResident } from './memory/resident.mjs'

/** Measures resident memory over ten minutes of load. A whole run includes only a shorter version. */
export async function measureFlat({ quick }) {
  const { markdown, figures } = await watchResident({ seconds: quick ? 60 : 600 })
  return { markdown: markdown.replace('### Resident memory', '## Resident memory, ten minutes'), figures }
}
