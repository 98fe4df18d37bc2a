//! Servers that fork for each connection, unmodified, with the library on both sides and on either: files and sums must be right.

mod common;

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::folder::Folder;
use common::programs::{WAYS, Witness, command, installed, serves};
use common::{Built, built};

fn said(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn pattern(len: u32) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

fn root() -> bool {
    // SAFETY: asks for a number.
    unsafe { libc::geteuid() == 0 }
}

/// Where a program of the system's lies that is not in everybody's path.
fn system(name: &str) -> String {
    let at = format!("/usr/sbin/{name}");
    if Path::new(&at).exists() { at } else { name.to_owned() }
}

#[test]
fn vsftpd_gives_and_takes_files_by_lftp_and_ncftp() {
    let Some(built) = built() else { return };
    let vsftpd = system("vsftpd");
    if !installed(&vsftpd, "-v") {
        return;
    }
    let (lftp, ncftp) = (installed("lftp", "--version"), installed("ncftpget", "-?"));
    let folder = Folder::new("ftp");
    let bytes = pattern(3_000_000);
    let shared = folder.join("shared");
    std::fs::create_dir_all(shared.join("in")).unwrap();
    std::fs::write(shared.join("file"), &bytes).unwrap();
    std::fs::set_permissions(shared.join("in"), std::fs::Permissions::from_mode(0o777)).unwrap();
    for (who, server, client) in WAYS {
        let conf = folder.join("conf");
        let here = shared.display();
        let empty = folder.join("empty");
        std::fs::create_dir_all(&empty).unwrap();
        let (_server, port) = serves(|port| {
            std::fs::write(
                &conf,
                format!(
                    "listen=YES\nlisten_address=127.0.0.1\nlisten_port={port}\nbackground=NO\nanonymous_enable=YES\nno_anon_password=YES\n\
                     anon_root={here}\nanon_upload_enable=YES\nwrite_enable=YES\nanon_umask=022\nrun_as_launching_user=YES\n\
                     allow_writeable_chroot=YES\nseccomp_sandbox=NO\nsecure_chroot_dir={}\nconnect_from_port_20=NO\nxferlog_enable=NO\n",
                    empty.display()
                ),
            )
            .unwrap();
            command(built, server, &vsftpd).arg(&conf).stdout(Stdio::null()).spawn().unwrap()
        });
        let (at, got) = (port.to_string(), folder.join("got"));
        std::fs::create_dir_all(&got).unwrap();
        if lftp {
            let script = format!(
                "set net:timeout 20; set net:max-retries 2; set cmd:fail-exit yes; open -p {at} 127.0.0.1; get file -o {}; put {} -o in/{at}",
                got.join("lftp").display(),
                shared.join("file").display()
            );
            let ran = command(built, client, "lftp").args(["-c", &script]).stderr(Stdio::piped()).output().unwrap();
            assert!(ran.status.success(), "lftp, library: {who}: {}", said(&ran));
            assert!(std::fs::read(got.join("lftp")).unwrap() == bytes, "lftp, library: {who}: the file differs");
            assert!(
                std::fs::read(shared.join("in").join(&at)).unwrap() == bytes,
                "lftp, library: {who}: what it put differs"
            );
            std::fs::remove_file(got.join("lftp")).unwrap();
        }
        if ncftp {
            let mut run = command(built, client, "ncftpget");
            run.args(["-V", "-t", "20", "-P", &at, "127.0.0.1"]).arg(&got).arg("file").env("HOME", &*folder);
            let ran = run.stderr(Stdio::piped()).output().unwrap();
            assert!(ran.status.success(), "ncftpget, library: {who}: {}", said(&ran));
            assert!(std::fs::read(got.join("file")).unwrap() == bytes, "ncftpget, library: {who}: the file differs");
            std::fs::remove_file(got.join("file")).unwrap();
        }
    }
}

/// A program of PostgreSQL's, in the path or where Debian has it.
fn postgres(name: &str) -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .map(|all| all.flatten().map(|version| version.path().join("bin").join(name)).collect())
        .unwrap_or_default();
    places.retain(|place| place.exists());
    places.pop()
}

/// Who PostgreSQL runs as: it refuses to be root.
fn somebody() -> Option<(u32, u32)> {
    // SAFETY: a name; what comes back is read before anybody asks again.
    let found = unsafe { libc::getpwnam(c"postgres".as_ptr()).as_ref() }?;
    Some((found.pw_uid, found.pw_gid))
}

#[test]
fn postgresql_adds_up_what_pgbench_did() {
    let Some(built) = built() else { return };
    let (Some(initdb), Some(server_is), Some(pgbench), Some(psql)) =
        (postgres("initdb"), postgres("postgres"), postgres("pgbench"), postgres("psql"))
    else {
        println!("skipped: PostgreSQL is not installed");
        return;
    };
    let user = if root() { somebody() } else { None };
    if root() && user.is_none() {
        println!("skipped: there is no user postgres, and PostgreSQL refuses to be root");
        return;
    }
    let folder = Folder::new("postgres");
    // Where that user can read it.
    let library = folder.join("libfastsock.so");
    std::fs::copy(&built.library, &library).unwrap();
    let witness = folder.join("witness.so");
    std::fs::copy(&built.witness, &witness).unwrap();
    let built =
        Built { library, program: built.program.clone(), actor: built.actor.clone(), witness, low: built.low.clone() };
    if let Some((uid, gid)) = user {
        std::os::unix::fs::chown(&*folder, Some(uid), Some(gid)).unwrap();
    }
    let run = |with: bool, program: &Path| {
        let mut run = command(&built, with, program.to_str().unwrap());
        if let Some((uid, gid)) = user {
            run.uid(uid).gid(gid);
        }
        run.current_dir(&*folder).env("HOME", &*folder).stdout(Stdio::piped()).stderr(Stdio::piped());
        run
    };
    let data = folder.join("data");
    let made = run(false, &initdb)
        .args(["-A", "trust", "-U", "tester", "-N", "--locale=C", "-D"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", said(&made));
    for (who, server, client) in WAYS {
        let both = server && client;
        let (mut server, port) = serves(|port| {
            let mut start = run(server, &server_is);
            start.arg("-D").arg(&data).args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                &format!("port={port}"),
                "-c",
                "fsync=off",
            ]);
            start
                .arg("-c")
                .arg(format!("unix_socket_directories={}", folder.display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            start.spawn().unwrap()
        });
        let at = port.to_string();
        let to = ["-h", "127.0.0.1", "-p", &at, "-U", "tester"];
        // It listens before it serves.
        let ready = |_: &u32| {
            std::thread::sleep(std::time::Duration::from_millis(100));
            run(false, &psql).args(to).args(["-c", "select 1", "postgres"]).output().unwrap().status.success()
        };
        assert!((0..300).any(|i| ready(&i)), "library: {who}: the server does not serve");
        for arguments in [
            &["-i", "-q", "-s", "1"][..],
            &["-n", "-c", "4", "-j", "2", "-t", "50"],
            &["-n", "-c", "2", "-t", "100", "-M", "prepared", "-S"],
        ] {
            let (mut ran, witness) = Witness::command(&built, client, pgbench.to_str().unwrap(), port);
            if let Some((uid, gid)) = user {
                ran.uid(uid).gid(gid);
            }
            let ran = ran.current_dir(&*folder).args(to).args(arguments).arg("postgres").output().unwrap();
            assert!(ran.status.success(), "library: {who}: {arguments:?}: {}", said(&ran));
            // Each is served by a process of its own, which its parent leaves it to.
            witness.check(both, who);
        }
        let sums = "select count(*), sum(delta) = (select sum(abalance) from pgbench_accounts), \
                    sum(delta) = (select sum(bbalance) from pgbench_branches) from pgbench_history";
        let asked = run(client, &psql).args(to).args(["-A", "-t", "-c", sums, "postgres"]).output().unwrap();
        assert_eq!(said(&asked).trim(), "200|t|t", "library: {who}");
        // SIGINT: sessions are ended, and the server with them.
        // SAFETY: a process of this test's own.
        unsafe { libc::kill(server.0.id().cast_signed(), libc::SIGINT) };
        assert!(server.0.wait().unwrap().success(), "library: {who}");
    }
}

#[test]
fn openssh_copies_a_file_and_runs_a_command() {
    let Some(built) = built() else { return };
    let sshd = system("sshd");
    if !installed(&sshd, "-V") || !installed("scp", "-V") || !installed("ssh-keygen", "-?") {
        return;
    }
    let folder = Folder::new("ssh");
    std::fs::set_permissions(&*folder, std::fs::Permissions::from_mode(0o700)).unwrap();
    if root() {
        let _ = std::fs::create_dir_all("/run/sshd");
    }
    for key in ["host", "user"] {
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(folder.join(key)).status();
        assert!(made.unwrap().success());
    }
    std::fs::copy(folder.join("user.pub"), folder.join("authorized")).unwrap();
    let bytes = pattern(5_000_000);
    std::fs::write(folder.join("file"), &bytes).unwrap();
    for (who, server, client) in WAYS {
        let path = |name: &str| folder.join(name).display().to_string();
        let (_server, port) = serves(|port| {
            std::fs::write(
                folder.join("conf"),
                format!(
                    "Port {port}\nListenAddress 127.0.0.1\nHostKey {}\nAuthorizedKeysFile {}\nPidFile none\nStrictModes no\nUsePAM no\n\
                     PasswordAuthentication no\nPermitRootLogin yes\nSubsystem sftp internal-sftp\n",
                    path("host"),
                    path("authorized")
                ),
            )
            .unwrap();
            command(built, server, &sshd).args(["-D", "-f", &path("conf")]).stdout(Stdio::null()).spawn().unwrap()
        });
        let at = port.to_string();
        let options = [
            "-F",
            "none",
            "-i",
            &path("user"),
            "-o",
            "StrictHostKeyChecking=no",
            "-o",
            "UserKnownHostsFile=/dev/null",
            "-o",
            "BatchMode=yes",
        ];
        let ran = command(built, client, "scp")
            .args(options)
            .args(["-P", &at, &path("file"), &format!("127.0.0.1:{}", path("copy"))])
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        assert!(ran.status.success(), "library: {who}: {}", said(&ran));
        assert!(std::fs::read(folder.join("copy")).unwrap() == bytes, "library: {who}: the copy differs");
        std::fs::remove_file(folder.join("copy")).unwrap();
        let ran = command(built, client, "ssh")
            .args(options)
            .args(["-p", &at, "127.0.0.1", "cat", &path("file")])
            .output()
            .unwrap();
        assert!(ran.stdout == bytes, "library: {who}: {} of {} bytes", ran.stdout.len(), bytes.len());
    }
}
