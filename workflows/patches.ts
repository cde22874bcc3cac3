/** Why a change of a workflow that running ones could notice is safe. */
export interface PatchRow {
  /** `YYYY-MM-DD`. */
  readonly date: string
  readonly why: string
}

/**
 * Every change that running workflows could notice, by the id that `patched(id)` is asked with. Ids are never reused:
 * histories hold them for as long as their workflows run. Empty until the first release has workflows to mind.
 */
export const patches: Readonly<Record<string, PatchRow>> = {}
