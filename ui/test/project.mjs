// The project of the pictures: a small command that tells when the tide comes, with an agent that works on it.

import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { Daemon } from "./daemon.mjs";

const AGENT = new URL("./coder-agent.mjs", import.meta.url).pathname;
const CONFIG = `[runtimes.coder]\ndisplay_name = "Coder"\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(AGENT)}]\n`;

const REPORT = `use crate::station::Station;

/// Prints the tides of one day, the first one first.
pub fn print(station: &Station) {
    let tides = station.tides_of_today();
    for tide in tides {
        println!("{:<6} {:>5.2} m", tide.time, tide.height);
    }
}
`;

const STATION = `/// A harbour whose tides are known.
pub struct Station {
    pub name: String,
}

impl Station {
    /// The station with this name, whatever its case.
    pub fn find(name: &str) -> Option<Self> {
        crate::data::stations().find(|one| one.name.eq_ignore_ascii_case(name))
    }
}
`;

const FILES = {
  "README.md": "# tide\n\nTells when the tide comes: \`tide report Brest\`.\n",
  "Cargo.toml": '[package]\nname = "tide"\nversion = "0.3.0"\nedition = "2024"\n',
  "src/main.rs": 'mod report;\nmod station;\n\nfn main() {\n    let name = std::env::args().nth(2).unwrap_or_default();\n    match station::Station::find(&name) {\n        Some(station) => report::print(&station),\n        None => eprintln!("There is no station {name}."),\n    }\n}\n',
  "src/report.rs": REPORT,
  "src/station.rs": STATION,
  "docs/stations.md": "# Stations\n\nThe list comes from the harbour offices.\n",
};

/** Where pictures show that Ada has her files. */
const HOME = "/home/ada";

/** A folder of its own; for pictures the one that people expect, unless somebody has it. */
async function makeHome() {
  const isMade = process.env.SCREENS && (await mkdir(HOME).then(() => true, () => false));
  return isMade ? HOME : mkdtemp(join(tmpdir(), "ada-"));
}

/** A daemon with the project as its workspace, a few commits, and some changes that nobody has committed. */
export async function startWithProject() {
  const daemon = await Daemon.start(CONFIG, await makeHome(), "tide");
  const put = async (path, text) => {
    await mkdir(join(daemon.work, path, ".."), { recursive: true });
    await writeFile(join(daemon.work, path), text);
  };
  const commit = async (subject) => {
    await daemon.git("add", ".");
    await daemon.git("commit", "-qm", subject);
  };
  for (const [path, text] of Object.entries(FILES)) await put(path, text);
  await commit("report: times are local to the harbour");
  await put("src/station.rs", STATION.replace("whatever its case", "whatever its case or accents"));
  await commit("station: names are found without their accents");
  await daemon.git("branch", "faster-lookup");
  await put("src/report.rs", REPORT.replace("        println!", "        if json {\n            println!(\"{}\", serde_json::to_string(tide)?);\n            continue;\n        }\n        println!").replace("print(station: &Station)", "print(station: &Station, json: bool)"));
  await put("README.md", `${FILES["README.md"]}\n## Output for programs\n\n\`tide report --json Brest\` prints one object for each tide.\n`);
  return daemon;
}
