; Defined by the build: VERSION, QUAD (four numbers), FILES (the commands that pack the program), LAUNCHERS (the
; folder with the two programs that start it), OUTPUT, ICON, TARGET; optionally FAST, SIGN.
;
; Each version has a folder of its own, app-VERSION; the file "current" names the one that is used. With /UPDATE,
; only that folder is written, while another version runs: engine.updates does the rest.
Unicode true
Target ${TARGET}
!define NAME "SpecExec Desktop"
!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\specexec-desktop"
!define TYPE "SpecExecDesktop.Chat"
!define DATA "$LOCALAPPDATA\specexec-desktop"
Name "${NAME}"
OutFile "${OUTPUT}"
RequestExecutionLevel user
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${UNINSTALL}" "InstallLocation"
ManifestDPIAware true
ManifestSupportedOS all
VIProductVersion "${QUAD}"
VIAddVersionKey "ProductName" "${NAME}"
VIAddVersionKey "ProductVersion" "${VERSION}"
VIAddVersionKey "FileVersion" "${VERSION}"
VIAddVersionKey "FileDescription" "${NAME} set-up"
VIAddVersionKey "LegalCopyright" "Apache-2.0"
!ifdef FAST
  SetCompress off
!else
  SetCompressor /SOLID lzma
!endif
!ifdef SIGN
  !finalize '${SIGN} "%1"'
  !uninstfinalize '${SIGN} "%1"'
!endif

!include MUI2.nsh
!include FileFunc.nsh
!include LogicLib.nsh
!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!define MUI_FINISHPAGE_RUN "$INSTDIR\${NAME}.exe"
!define MUI_FINISHPAGE_SHOWREADME ""
!define MUI_FINISHPAGE_SHOWREADME_NOTCHECKED
!define MUI_FINISHPAGE_SHOWREADME_TEXT "Create a desktop shortcut"
!define MUI_FINISHPAGE_SHOWREADME_FUNCTION PutOnDesktop
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

!macro StopApp
  ${If} ${FileExists} "$INSTDIR\${NAME}.exe"
    ExecWait '"$INSTDIR\${NAME}.exe" --running' $0
    ${If} $0 == 1
      MessageBox MB_OKCANCEL "${NAME} is running and will be closed." /SD IDOK IDOK +2
      Abort
      ExecWait '"$INSTDIR\${NAME}.exe" --stop'
    ${EndIf}
  ${EndIf}
!macroend

; Removes all versions but the one whose folder is KEPT.
!macro RemoveVersions KEPT
  FindFirst $1 $2 "$INSTDIR\app-*"
  ${DoUntil} $2 == ""
    ${If} $2 != "${KEPT}"
      RMDir /r "$INSTDIR\$2"
    ${EndIf}
    FindNext $1 $2
  ${Loop}
  FindClose $1
  RMDir /r "$INSTDIR\update"
!macroend

Section
  ${GetParameters} $0
  ClearErrors
  ${GetOptions} $0 "/UPDATE" $1
  ${If} ${Errors}
    StrCpy $9 "whole"
    !insertmacro StopApp
  ${Else}
    StrCpy $9 "update"
  ${EndIf}
  ClearErrors
  RMDir /r "$INSTDIR\app-${VERSION}"
  ClearErrors
  !include /CHARSET=UTF8 "${FILES}"
  ${If} ${Errors}
    SetErrorLevel 2
    Abort
  ${EndIf}
  ${If} $9 == "update"
    Return
  ${EndIf}
  File "${LAUNCHERS}\${NAME}.exe"
  File "${LAUNCHERS}\specexec.exe"
  FileOpen $0 "$INSTDIR\current.new" w
  FileWrite $0 "app-${VERSION}"
  FileClose $0
  System::Call 'kernel32::MoveFileExW(w "$INSTDIR\current.new", w "$INSTDIR\current", i 1)'
  !insertmacro RemoveVersions "app-${VERSION}"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortCut "$SMPROGRAMS\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "Software\Classes\.specexec-chat" "" "${TYPE}"
  WriteRegStr HKCU "Software\Classes\${TYPE}" "" "${NAME} chat"
  WriteRegStr HKCU "Software\Classes\${TYPE}\DefaultIcon" "" "$INSTDIR\${NAME}.exe,0"
  WriteRegStr HKCU "Software\Classes\${TYPE}\shell\open\command" "" '"$INSTDIR\${NAME}.exe" "%1"'
  WriteRegStr HKCU "${UNINSTALL}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${UNINSTALL}" "DisplayIcon" "$INSTDIR\${NAME}.exe"
  WriteRegStr HKCU "${UNINSTALL}" "Publisher" "${NAME}"
  WriteRegStr HKCU "${UNINSTALL}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKCU "${UNINSTALL}" "NoRepair" 1
  ${GetSize} "$INSTDIR" "/S=0K" $0 $1 $2
  WriteRegDWORD HKCU "${UNINSTALL}" "EstimatedSize" $0
  ${RefreshShellIcons}
SectionEnd

Function PutOnDesktop
  CreateShortCut "$DESKTOP\${NAME}.lnk" "$INSTDIR\${NAME}.exe"
FunctionEnd

Section Uninstall
  !insertmacro StopApp
  !insertmacro RemoveVersions ""
  Delete "$INSTDIR\current"
  Delete "$INSTDIR\${NAME}.exe"
  Delete "$INSTDIR\specexec.exe"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  Delete "$SMPROGRAMS\${NAME}.lnk"
  Delete "$DESKTOP\${NAME}.lnk"
  DeleteRegKey HKCU "Software\Classes\${TYPE}"
  ReadRegStr $0 HKCU "Software\Classes\.specexec-chat" ""
  ${If} $0 == "${TYPE}"
    DeleteRegKey HKCU "Software\Classes\.specexec-chat"
  ${EndIf}
  DeleteRegKey HKCU "${UNINSTALL}"
  ${RefreshShellIcons}
  StrCpy $3 0
  StrCpy $4 0
  ${If} ${FileExists} "${DATA}\runtime\*.*"
    ${GetSize} "${DATA}\runtime" "/S=0M" $3 $1 $2
  ${EndIf}
  ${If} ${FileExists} "${DATA}\models\*.*"
    ${GetSize} "${DATA}\models" "/S=0M" $4 $1 $2
  ${EndIf}
  ${If} ${FileExists} "${DATA}\Cache\*.*"
    ${GetSize} "${DATA}\Cache" "/S=0M" $5 $1 $2
    IntOp $4 $4 + $5
  ${EndIf}
  ${If} $3 <> 0
  ${OrIf} $4 <> 0
    MessageBox MB_YESNO|MB_DEFBUTTON2 "Also delete the engine's packages ($3 MB) and the downloaded models ($4 MB)?$\r$\n$\r$\nYour chats and settings are kept in ${DATA}." /SD IDNO IDNO keep
    RMDir /r "${DATA}\runtime"
    RMDir /r "${DATA}\models"
    RMDir /r "${DATA}\Cache"
    keep:
  ${EndIf}
SectionEnd
