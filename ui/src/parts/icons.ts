// The icons in use, of the set Lucide (ISC licence).

import activity from "lucide-static/icons/activity.svg?raw";
import arrowDown from "lucide-static/icons/arrow-down.svg?raw";
import arrowLeft from "lucide-static/icons/arrow-left.svg?raw";
import arrowUp from "lucide-static/icons/arrow-up.svg?raw";
import brain from "lucide-static/icons/brain.svg?raw";
import check from "lucide-static/icons/check.svg?raw";
import chevronDown from "lucide-static/icons/chevron-down.svg?raw";
import chevronLeft from "lucide-static/icons/chevron-left.svg?raw";
import chevronRight from "lucide-static/icons/chevron-right.svg?raw";
import circle from "lucide-static/icons/circle.svg?raw";
import circleCheck from "lucide-static/icons/circle-check.svg?raw";
import circleDot from "lucide-static/icons/circle-dot.svg?raw";
import circleHelp from "lucide-static/icons/circle-question-mark.svg?raw";
import circleX from "lucide-static/icons/circle-x.svg?raw";
import ellipsis from "lucide-static/icons/ellipsis.svg?raw";
import eye from "lucide-static/icons/eye.svg?raw";
import file from "lucide-static/icons/file.svg?raw";
import fileDiff from "lucide-static/icons/file-diff.svg?raw";
import folder from "lucide-static/icons/folder.svg?raw";
import folderGit from "lucide-static/icons/folder-git-2.svg?raw";
import gitBranch from "lucide-static/icons/git-branch.svg?raw";
import globe from "lucide-static/icons/globe.svg?raw";
import hourglass from "lucide-static/icons/hourglass.svg?raw";
import image from "lucide-static/icons/image.svg?raw";
import inbox from "lucide-static/icons/inbox.svg?raw";
import loader from "lucide-static/icons/loader-circle.svg?raw";
import monitor from "lucide-static/icons/monitor-smartphone.svg?raw";
import octagonX from "lucide-static/icons/octagon-x.svg?raw";
import paperclip from "lucide-static/icons/paperclip.svg?raw";
import pencil from "lucide-static/icons/pencil.svg?raw";
import play from "lucide-static/icons/play.svg?raw";
import plug from "lucide-static/icons/plug.svg?raw";
import plus from "lucide-static/icons/plus.svg?raw";
import rotate from "lucide-static/icons/rotate-cw.svg?raw";
import search from "lucide-static/icons/search.svg?raw";
import server from "lucide-static/icons/server.svg?raw";
import share from "lucide-static/icons/share-2.svg?raw";
import square from "lucide-static/icons/square.svg?raw";
import terminal from "lucide-static/icons/terminal.svg?raw";
import trash from "lucide-static/icons/trash-2.svg?raw";
import triangleAlert from "lucide-static/icons/triangle-alert.svg?raw";
import wifiOff from "lucide-static/icons/wifi-off.svg?raw";
import wrench from "lucide-static/icons/wrench.svg?raw";
import x from "lucide-static/icons/x.svg?raw";

const files = {
  activity, arrowDown, arrowLeft, arrowUp, brain, check, chevronDown, chevronLeft, chevronRight, circle, circleCheck, circleDot,
  circleHelp, circleX, ellipsis, eye, file, fileDiff, folder, folderGit, gitBranch, globe, hourglass, image, inbox, loader,
  monitor, octagonX, paperclip, pencil, play, plug, plus, rotate, search, server, share, square, terminal, trash, triangleAlert, wifiOff,
  wrench, x,
};

export type IconName = keyof typeof files;

/** What is drawn of an icon, without its frame. */
export const shapes = Object.fromEntries(
  Object.entries(files).map(([name, svg]) => [name, /<svg[^>]*>([\s\S]*)<\/svg>/.exec(svg)?.[1]?.trim() ?? ""]),
) as Record<IconName, string>;
