import { type Mutant, mutated as mutatedIn } from '../mutated.ts'

export type { Mutant } from '../mutated.ts'

/** A module of the analysis with a mistake in it. */
export const mutated = <Module>(mutant: Mutant, module: string): Promise<Module> =>
  mutatedIn(mutant, { module, copied: ['analysis', 'authority', 'policy'] })
