import { importMacro, importRule } from '../../../domain/imports/rules.ts';
import type { Copying } from '../copying.ts';
import { toMacro } from '../read/macro.ts';
import { toRule, type NamedCopies } from '../read/rule.ts';
import type { Setting } from './settings.ts';

const automationName = 'Rules from Chatwoot';

/** How automation rules are copied: into an automation of the plugin `rules` that is off. */
export function ruleSetting({ reporter, secretBox }: Copying, copies: NamedCopies): Setting {
  return {
    counted: 'automation_rules',
    kind: 'automation_rule',
    path: '/automation_rules',
    isOptional: true,
    why: 'it has no equivalent here',
    make: (tx, record, given) => {
      const { rule, missing } = toRule(given, copies);
      if (missing.length > 0)
        reporter.remark(
          `automation rule ${record.foreignId}`,
          `copied without actions that have no equivalent here: ${missing.join(', ')}`,
        );
      return importRule(tx, { secretBox }, record, { name: automationName, rule });
    },
  };
}

/** How macros are copied: macros are the same here. */
export function macroSetting(copies: NamedCopies): Setting {
  return {
    counted: 'macros',
    kind: 'macro',
    path: '/macros',
    isOptional: true,
    why: 'it has no equivalent here',
    make: (tx, record, given) => importMacro(tx, record, toMacro(given, copies)),
  };
}
